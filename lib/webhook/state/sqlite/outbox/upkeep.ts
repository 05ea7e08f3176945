import type { DatabaseSync } from "node:sqlite";
import type { SqliteDedup } from "../../../../dedup/sqlite.ts";
import { KEEP_DELIVERED_MS } from "../../state.ts";
import type { Transaction } from "./transaction.ts";

const ROWS_AT_ONCE = 500;
/** More than one full page of every table: what a small batch of alerts needs. */
const ROOM_BYTES = 32_768;

/** What keeps the file small, and proves that it can grow. */
export type Upkeep = { prune(): Promise<void>; check(): void };

/**
 * Removes what has had its time, a few rows at a time with everything else in between; and writes for proof.
 *
 * Shape:  `check` commits a row of 32 KiB before it removes the last one: pages that are free and a disk that takes
 *         them, as an accepted alert needs them.
 * Errors: those of SQLite.
 */
export function upkeep(dependencies: {
  db: DatabaseSync;
  dedup: SqliteDedup;
  transaction: Transaction;
  nowMs: () => number;
}): Upkeep {
  const { db, dedup, transaction, nowMs } = dependencies;
  const forget = db.prepare(`
    delete from outbox where id in
      (select id from outbox where state = 'delivered' and ended_at_ms <= ? limit ?)`);
  const fill = db.prepare("insert into room (filling) values (zeroblob(?))");
  const empty = db.prepare("delete from room where id < ?");
  return {
    async prune() {
      while (Number(forget.run(nowMs() - KEEP_DELIVERED_MS, ROWS_AT_ONCE).changes) === ROWS_AT_ONCE)
        await nextTurn();
      while (dedup.prune(ROWS_AT_ONCE) === ROWS_AT_ONCE) await nextTurn();
    },
    check: () => {
      transaction(() => empty.run(fill.run(ROOM_BYTES).lastInsertRowid));
    },
  };
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
