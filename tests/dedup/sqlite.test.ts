import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { SQLITE_DEDUP_TABLE, sqliteDedup } from "../../lib/dedup/sqlite.ts";
import { type DedupFixture, dedupSuite, START_MS } from "./support/suite.ts";

dedupSuite("sqliteDedup()", openFixture);

test("sqliteDedup() outside of a transaction: what another process takes after the look is a duplicate", () => {
  const db = new DatabaseSync(":memory:");
  db.exec(SQLITE_DEDUP_TABLE);
  const other = sqliteDedup(db, () => START_MS);
  let looks = 0;
  const prepare = (sql: string) => {
    const statement = db.prepare(sql);
    if (!sql.startsWith("select")) return statement;
    return {
      get(key: string) {
        const found = statement.get(key);
        looks += 1;
        if (looks === 1) other.claim(key, 1_000);
        return found;
      },
    };
  };
  const dedup = sqliteDedup({ prepare } as unknown as DatabaseSync, () => START_MS);
  expect(dedup.claim("a", 1_000)).toEqual({ status: "duplicate", claimedAtMs: START_MS, value: null });
  db.close();
});

async function openFixture(): Promise<DedupFixture> {
  const folder = mkdtempSync(join(tmpdir(), "opsctl-dedup-"));
  const databases: DatabaseSync[] = [];
  let clockMs = START_MS;
  const open = () => {
    const db = new DatabaseSync(join(folder, "dedup.db"), { timeout: 2_000 });
    databases.push(db);
    db.exec(`pragma journal_mode = wal; pragma synchronous = off; ${SQLITE_DEDUP_TABLE}`);
    return db;
  };
  const closeAll = () => {
    for (const db of databases.splice(0)) db.close();
  };
  const dedupOn = (db: DatabaseSync) => sqliteDedup(db, () => clockMs);
  const first = open();
  return {
    dedup: dedupOn(first),
    setClock(ms) {
      clockMs = ms;
    },
    another: async () => dedupOn(open()),
    async reopen() {
      closeAll();
      return dedupOn(open());
    },
    async rolledBack(work) {
      first.exec("begin immediate");
      await work(dedupOn(first)).finally(() => first.exec("rollback"));
    },
    countEntries: () => Number(first.prepare("select count(*) as count from dedup").get()?.count),
    async close() {
      closeAll();
      rmSync(folder, { recursive: true });
    },
  };
}
