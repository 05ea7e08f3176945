import type { DatabaseSync } from "node:sqlite";
import type { SqliteDedup } from "../../../../dedup/sqlite.ts";
import { KEEP_DELIVERED_MS, KEEP_ENDED_MS } from "../../contract.ts";
import type { Reserve } from "../reserve/reserve.ts";
import { episodesOn } from "./accept/episodes.ts";
import { hourlyCount } from "./accept/hours.ts";
import { giveBackOn } from "./deliver/give-back.ts";
import type { Transaction } from "./transaction.ts";

const ROWS_AT_ONCE = 500;
/** More than a full page of every table: what a small batch of alerts needs. */
const FILLING_BYTES = 32_768;
/** The longest that attempts are asked for. */
const KEEP_ATTEMPTS_MS = 60 * 60_000;
const KEEP_HOURS = 31 * 24;

/** Keeps the file small, and checks that it can grow. */
export type Upkeep = { prune(): Promise<void>; check(): void };

type Dependencies = {
  db: DatabaseSync;
  dedup: SqliteDedup;
  transaction: Transaction;
  nowMs: () => number;
  reserve: Reserve | null;
};

/**
 * Removes old rows, and checks that new ones could be written.
 *
 * Behaviour: `prune` removes a few hundred rows at a time and lets other work run in between, then fills the reserve up
 *            and makes the file smaller. `check` commits a row of 32 KiB, then removes the one before: it needs free
 *            pages and a disk that takes them, as an alert does.
 * Errors:    those of SQLite.
 */
export function upkeep({ db, dedup, transaction, nowMs, reserve }: Dependencies): Upkeep {
  const removals = removalsOn(db, dedup);
  const hours = hourlyCount(db);
  const giveBack = giveBackOn(db, transaction);
  const fill = db.prepare("insert into room (filling) values (zeroblob(?))");
  const empty = db.prepare("delete from room where id < ?");
  return {
    async prune() {
      for (const remove of removals)
        while (transaction(() => remove(nowMs())) === ROWS_AT_ONCE) await nextTurn();
      transaction(() => hours.prune(KEEP_HOURS, nowMs()));
      await reserve?.refill();
      // On a nearly full disk free pages are worth more in the file.
      if (reserve?.isTight !== true) for (const _ of giveBack()) await nextTurn();
    },
    check: () => {
      transaction(() => empty.run(fill.run(FILLING_BYTES).lastInsertRowid));
    },
  };
}

/** What removes old rows, each a few hundred at a time; they return how many. */
function removalsOn(db: DatabaseSync, dedup: SqliteDedup): ((now: number) => number)[] {
  const delivered = db.prepare(`
    delete from outbox where id in
      (select id from outbox where state = 'delivered' and ended_at_ms <= ? limit ?)`);
  const ended = db.prepare(`
    delete from outbox where id in
      (select id from outbox where state in ('dead', 'in_doubt') and ended_at_ms <= ? limit ?)`);
  // Those ahead of the clock are there only when it was set back.
  const attempts = db.prepare(`
    delete from attempts where id in (select id from attempts where begun_at_ms <= ?1 or begun_at_ms > ?2 limit ?3)`);
  const episodes = episodesOn(db);
  return [
    (now) => Number(delivered.run(now - KEEP_DELIVERED_MS, ROWS_AT_ONCE).changes),
    (now) => Number(ended.run(now - KEEP_ENDED_MS, ROWS_AT_ONCE).changes),
    (now) => Number(attempts.run(now - KEEP_ATTEMPTS_MS, now + KEEP_ATTEMPTS_MS, ROWS_AT_ONCE).changes),
    (now) => episodes.prune(now - KEEP_DELIVERED_MS, ROWS_AT_ONCE),
    () => dedup.prune(ROWS_AT_ONCE),
  ];
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
