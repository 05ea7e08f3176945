import type { DatabaseSync } from "node:sqlite";
import { sqliteDedup } from "../../../../dedup/sqlite.ts";
import type { OutboxLimits } from "../../contract.ts";
import type { Reserve } from "../reserve/reserve.ts";
import { issueClaims } from "./accept/claims.ts";
import { hourlyCount } from "./accept/hours.ts";
import { beginner } from "./deliver/begin.ts";
import { digestFinder, memberFinder } from "./deliver/digest.ts";
import { dueFinder } from "./deliver/due.ts";
import { headsOn } from "./deliver/heads.ts";
import { holdsOn } from "./deliver/holds.ts";
import { secondChannel } from "./deliver/second-channel.ts";
import { settler } from "./deliver/settle.ts";
import { uptaker } from "./deliver/take-up.ts";
import { Load } from "./load.ts";
import { deadRows } from "./operator/dead.ts";
import { queuedRows } from "./operator/queued.ts";
import { outboxReads } from "./reads/reads.ts";
import { recentAlerts } from "./reads/recent.ts";
import { outboxStats } from "./reads/stats.ts";
import { transactionsOn } from "./transaction.ts";
import { upkeep } from "./upkeep.ts";
import { writer } from "./write.ts";

/** What the outbox of a file is made with. */
export type OutboxOptions = {
  nowMs: () => number;
  limits: OutboxLimits;
  comments: boolean;
  reserve: Reserve | null;
};

/** The outbox and the dedup of one open file, with every statement prepared. */
export type Outbox = ReturnType<typeof outboxOn>;

/**
 * Prepares everything that the state does with an open file; `begin`, `takeUp` and `settle` belong into
 * `write`.
 *
 * Errors: those of SQLite, here and in each of its parts.
 */
export function outboxOn(db: DatabaseSync, options: OutboxOptions) {
  const { nowMs, limits } = options;
  const load = new Load(db, limits);
  const transaction = transactionsOn(db, {
    room: options.reserve,
    onBegin: headsOn(db).placeStrays,
    onRollback: () => load.forget(),
  });
  const dependencies = { ...options, db, dedup: sqliteDedup(db, nowMs), transaction, load };
  const hours = hourlyCount(db);
  return {
    write: writer(dependencies),
    begin: beginner(dependencies),
    takeUp: uptaker(dependencies),
    settle: settler(dependencies),
    due: dueFinder(db, nowMs),
    digestible: digestFinder(db, nowMs),
    membersOf: memberFinder(db, nowMs),
    dead: deadRows(dependencies),
    queued: queuedRows(dependencies),
    stats: outboxStats(db, nowMs),
    reads: outboxReads(db, nowMs),
    holds: holdsOn(dependencies),
    claims: issueClaims(dependencies),
    secondChannel: secondChannel(dependencies),
    recent: recentAlerts(db),
    hourly: (count: number) => hours.last(count, nowMs()),
    upkeep: upkeep(dependencies),
  };
}
