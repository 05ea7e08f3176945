import type { DatabaseSync } from "node:sqlite";
import type { Transaction } from "../transaction.ts";

/** What the file keeps for the next flood. */
const KEPT_BYTES = 16 * 2 ** 20;
/** Pages moved in one transaction: while it runs, the service cannot accept. */
const PAGES_AT_ONCE = 256;
/** The rest waits for the next time. */
const MOST_STEPS = 64;

/** Gives pages that the file holds for nothing back to the disk, in steps between which other work may run. */
export type GiveBack = () => Generator<void>;

/**
 * Gives back a MiB in each step.
 *
 * Behaviour: the last pages move to free ones, and the file ends before them. A file that an older version made gives
 *            nothing back until it was vacuumed once.
 * Errors:    those of SQLite.
 */
export function giveBackOn(db: DatabaseSync, transaction: Transaction): GiveBack {
  const free = db.prepare(
    "select freelist_count * page_size as bytes from pragma_freelist_count, pragma_page_size",
  );
  const vacuum = db.prepare(`pragma incremental_vacuum(${PAGES_AT_ONCE})`);
  const freeBytes = () => Number(free.get()?.bytes);
  return function* () {
    for (let step = 0, before = freeBytes(); step < MOST_STEPS && before > KEPT_BYTES; step += 1) {
      // Read to its end: each row is a page that was moved.
      transaction(() => vacuum.all());
      const now = freeBytes();
      if (now >= before) return;
      before = now;
      yield;
    }
  };
}
