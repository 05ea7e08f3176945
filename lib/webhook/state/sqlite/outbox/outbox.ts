import type { DatabaseSync } from "node:sqlite";
import { sqliteDedup } from "../../../../dedup/sqlite.ts";
import type { OutboxLimits } from "../../contract.ts";
import { deadRows } from "./dead.ts";
import { dueFinder } from "./due.ts";
import { Load } from "./load.ts";
import { outboxReads } from "./reads.ts";
import { transactionsOn } from "./transaction.ts";
import { upkeep } from "./upkeep.ts";
import { writer } from "./write.ts";

/** The outbox and the dedup of one open file, with every statement prepared. */
export type Outbox = ReturnType<typeof outboxOn>;

/**
 * Prepares everything that the state does with an open file.
 *
 * Errors: those of SQLite, here and in each of its parts.
 */
export function outboxOn(db: DatabaseSync, options: { nowMs: () => number; limits: OutboxLimits }) {
  const { nowMs, limits } = options;
  const load = new Load(db, limits);
  const dependencies = { db, dedup: sqliteDedup(db, nowMs), transaction: transactionsOn(db), load, nowMs };
  return {
    write: writer(dependencies),
    due: dueFinder(db, nowMs),
    dead: deadRows(dependencies),
    reads: outboxReads(db, nowMs),
    upkeep: upkeep(dependencies),
  };
}
