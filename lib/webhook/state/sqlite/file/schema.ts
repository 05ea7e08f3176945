import type { DatabaseSync } from "node:sqlite";
import { SQLITE_DEDUP_TABLE } from "../../../../dedup/sqlite.ts";
import { OpsError } from "../../../../platform/errors.ts";

const VERSION = 2;

// A head is the oldest queued row of its fingerprint and kind: with the mark in the row, finding what is due costs the
// same however many rows of one fingerprint wait behind it. A row that was never tried has 0 as its next attempt, so
// that fresh rows come out of the index in order. `age_from_ms` is when the 24 hours of a row began: when it was accepted
// or revived. `check` writes to `room`.
const TABLES = `
  create table outbox (
    id integer primary key autoincrement,
    kind text not null,
    state text not null,
    fingerprint text not null,
    priority integer not null,
    is_head integer not null,
    attempts integer not null default 0,
    next_attempt_at_ms integer not null default 0,
    accepted_at_ms integer not null,
    age_from_ms integer not null,
    ended_at_ms integer,
    message_row integer,
    claim_token text,
    claimed_at_ms integer,
    code text,
    reference text,
    url text,
    bytes integer not null,
    alert text
  ) strict;
  create table room (id integer primary key, filling blob not null) strict;
`;

// Rows are added at the end of `outbox_queued`: an index of all of them in order of fingerprint would cost a commit one
// page for each fingerprint in it. The next row of a fingerprint, seldom needed, is found by walking along it.
const INDEXES = `
  create index outbox_due on outbox (kind, priority, next_attempt_at_ms, id)
    where state = 'queued' and is_head = 1;
  create index outbox_heads on outbox (kind, fingerprint) where state = 'queued' and is_head = 1;
  create index outbox_queued on outbox (kind, id, fingerprint, bytes, age_from_ms) where state = 'queued';
  create index outbox_dead on outbox (id, kind) where state = 'dead';
  create index outbox_delivered on outbox (ended_at_ms) where state = 'delivered';
`;

/** What upgrades a file to this version, by the file's version; 0 is an empty file. */
const UPGRADES: Readonly<Record<number, string>> = {
  0: `${TABLES} ${INDEXES} ${SQLITE_DEDUP_TABLE}`,
  1: `drop index outbox_due; drop index outbox_queued; drop index outbox_dead; drop index outbox_delivered; ${INDEXES}`,
};

/** The columns of the outbox that are read from a damaged file. */
export const OUTBOX_COLUMNS = [
  ...["id", "kind", "state", "fingerprint", "priority", "is_head", "attempts", "next_attempt_at_ms"],
  ...["accepted_at_ms", "age_from_ms", "ended_at_ms", "message_row", "claim_token", "claimed_at_ms"],
  ...["code", "reference", "url", "bytes", "alert"],
] as const;

/**
 * Makes the tables of the state, or upgrades those of an older version; either needs a file that may be written to.
 *
 * Errors: STATE_UNAVAILABLE when a newer opsctl made the file; those of SQLite.
 */
export function ensureSchema(db: DatabaseSync): void {
  db.prepare("begin immediate").run();
  try {
    const version = Number(db.prepare("pragma user_version").get()?.user_version);
    if (version > VERSION)
      throw new OpsError({
        code: "STATE_UNAVAILABLE",
        message: `Cannot use the state: its version is ${version}, this opsctl knows ${VERSION}`,
        hint: "Install the opsctl that made it, or a newer one",
      });
    if (version < VERSION) db.exec(`${UPGRADES[version]} pragma user_version = ${VERSION}`);
    db.prepare("commit").run();
  } catch (error) {
    if (db.isTransaction) db.exec("rollback");
    throw error;
  }
}
