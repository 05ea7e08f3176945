import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { SQLITE_DEDUP_TABLE, sqliteDedup } from "../../lib/dedup/sqlite.ts";
import { type DedupFixture, dedupSuite, START_MS } from "./support/suite.ts";

dedupSuite("sqliteDedup()", openFixture);

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
