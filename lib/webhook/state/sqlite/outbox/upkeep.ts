import type { DatabaseSync } from "node:sqlite";
import type { SqliteDedup } from "../../../../dedup/sqlite.ts";
import { KEEP_DELIVERED_MS } from "../../contract.ts";
import type { Transaction } from "./transaction.ts";

const ROWS_AT_ONCE = 500;
/** More than a full page of every table: what a small batch of alerts needs. */
const FILLING_BYTES = 32_768;

/** Keeps the file small, and checks that it can grow. */
export type Upkeep = { prune(): Promise<void>; check(): void };

/**
 * Removes old rows, and checks that new ones could be written.
 *
 * Behaviour: `prune` removes a few hundred rows at a time and lets other work run in between. `check` commits a row of
 *            32 KiB, then removes the one before: it needs free pages and a disk that takes them, as an alert does.
 * Errors:    those of SQLite.
 */
export function upkeep({
  db,
  dedup,
  transaction,
  nowMs,
}: {
  db: DatabaseSync;
  dedup: SqliteDedup;
  transaction: Transaction;
  nowMs: () => number;
}): Upkeep {
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
      transaction(() => empty.run(fill.run(FILLING_BYTES).lastInsertRowid));
    },
  };
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
