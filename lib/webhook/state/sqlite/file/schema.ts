import type { DatabaseSync } from "node:sqlite";
import { SQLITE_DEDUP_TABLE } from "../../../../dedup/sqlite.ts";
import { OpsError } from "../../../../platform/errors.ts";

const VERSION = 3;

// A head is the oldest queued row of its fingerprint and kind: with the mark in the row, finding what is due costs the
// same however many rows of one fingerprint wait behind it. A row that was never tried has 0 as its next attempt, so
// that fresh rows come out of the index in order. `age_from_ms` is when a row began to wait: when it was accepted or
// revived. `check` writes to `room`.
const TABLES_2 = `
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

// A row that is no head has the one before it in the line of its fingerprint (`ahead`). A member of another row's text
// (`digest`) is never due, and a comment is blocked until its issue (`issue_row`) is delivered. A row whose text tells
// others (`has_members`) is due without being a head, since one of them may stand ahead of it. `text` is what the first
// attempt sends, `shown` what is kept of a delivered alert.
const COLUMNS_3 = [
  ["text", "text"],
  ["tried_ms", "integer not null default 0"],
  ["unclear", "integer not null default 0"],
  ["is_unsettled", "integer not null default 0"],
  ["unanswered_at_ms", "integer"],
  ["first_begun_at_ms", "integer"],
  ["digest", "integer"],
  ["has_members", "integer not null default 0"],
  ["is_blocked", "integer not null default 0"],
  ["issue_row", "integer"],
  ["ahead", "integer"],
  ["is_repeat", "integer not null default 0"],
  ["is_urgent", "integer not null default 0"],
  ["emailed_at_ms", "integer"],
  ["shown", "text"],
] as const;

// `reserve` is space that is freed for alerts when the disk is full. `episodes` has what a fingerprint is firing since,
// and its newest issue: rows of the outbox are removed, and an index of all of them by fingerprint would cost a page
// for each row. `seen_at_ms` is the end of the day on which it was accepted last: the time itself would be written for
// each repetition.
const TABLES_3 = `
  create table episodes (
    fingerprint text primary key not null,
    starts_at text,
    is_firing integer not null,
    issue_row integer,
    claimed_at_ms integer,
    seen_at_ms integer not null
  ) strict, without rowid;
  create index episodes_age on episodes (seen_at_ms);
  create table attempts (id integer primary key, kind text not null, begun_at_ms integer not null) strict;
  create table holds (kind text primary key not null, code text not null, since_ms integer not null) strict, without rowid;
  create table hours (hour integer primary key, alerts integer not null) strict;
  create table reserve (id integer primary key, filling blob not null) strict;
  create table detour (id integer primary key, emailed integer not null, given_up integer not null) strict;
  insert into detour values (1, 0, 0);
  create table email (id integer primary key, content text not null) strict;
`;

// Rows are added at the end of `outbox_queued` and of `outbox_behind`: an index of all rows in order of fingerprint
// would cost a commit one page for each fingerprint in it.
const INDEXES = `
  create index outbox_due on outbox (kind, priority, next_attempt_at_ms, id)
    where state = 'queued' and may_go = 1;
  create index outbox_heads on outbox (kind, fingerprint) where state = 'queued' and is_head = 1;
  create index outbox_behind on outbox (ahead) where state = 'queued' and is_head = 0;
  create index outbox_queued on outbox (kind, id, priority, bytes, age_from_ms, digest) where state = 'queued';
  create index outbox_ended on outbox (state, ended_at_ms, kind) where state in ('dead', 'in_doubt');
  create index outbox_delivered on outbox (ended_at_ms) where state = 'delivered';
  create index outbox_references on outbox (reference) where reference is not null;
  create index outbox_members on outbox (digest) where digest is not null;
  create index outbox_comments on outbox (issue_row) where issue_row is not null;
  create index outbox_unheard on outbox (id) where state in ('queued', 'in_doubt') and is_urgent = 1 and emailed_at_ms is null;
`;

/** Ranks the rows of an older version, where 0 was critical and 1 the rest. */
export const RANK_ROWS = `
  update outbox set
    priority = case lower(trim(coalesce(json_extract(alert, '$.severity'), '')))
      when 'critical' then 0 when 'high' then 1 when 'warning' then 2 else 3 end,
    is_urgent = kind = 'message' and (
      lower(trim(coalesce(json_extract(alert, '$.severity'), ''))) = 'critical'
      or coalesce(json_extract(alert, '$.labels.via'), '') = 'other')
  where state <> 'delivered' and json_valid(alert);
`;

/** Puts the rows that wait in line, each behind the one before it of its kind and fingerprint. */
export const LINE_UP = `
  update outbox set ahead = line.ahead, is_head = line.ahead is null
  from (select id, lag(id) over (partition by kind, fingerprint order by id) as ahead
    from outbox where state = 'queued') as line
  where line.id = outbox.id;
`;

const UPGRADE_3 = `
  drop index if exists outbox_due; drop index if exists outbox_heads; drop index if exists outbox_queued;
  drop index if exists outbox_dead; drop index if exists outbox_delivered;
  ${COLUMNS_3.map(([name, type]) => `alter table outbox add column ${name} ${type};`).join(" ")}
  alter table outbox add column may_go integer
    as (is_blocked = 0 and digest is null and (is_head = 1 or has_members = 1)) virtual;
  ${TABLES_3} ${RANK_ROWS} ${LINE_UP} ${INDEXES}`;

/** What upgrades a file to this version, by the file's version; 0 is an empty file. */
const UPGRADES: Readonly<Record<number, string>> = {
  0: `${TABLES_2} ${SQLITE_DEDUP_TABLE} ${UPGRADE_3}`,
  1: UPGRADE_3,
  2: UPGRADE_3,
};

/** The columns of the outbox that are read from a damaged file of version 1 or 2. */
export const OUTBOX_COLUMNS_2: readonly string[] = [
  ...["id", "kind", "state", "fingerprint", "priority", "is_head", "attempts", "next_attempt_at_ms"],
  ...["accepted_at_ms", "age_from_ms", "ended_at_ms", "message_row", "claim_token", "claimed_at_ms"],
  ...["code", "reference", "url", "bytes", "alert"],
];

/** The columns of the outbox that are read from a damaged file. */
export const OUTBOX_COLUMNS: readonly string[] = [...OUTBOX_COLUMNS_2, ...COLUMNS_3.map(([name]) => name)];

/**
 * Makes the tables of the state, or upgrades those of an older version; either needs a file that may be written to.
 *
 * Errors: STATE_UNAVAILABLE when a newer opsctl made the file; those of SQLite.
 */
export function ensureSchema(db: DatabaseSync): void {
  db.prepare("begin immediate").run();
  try {
    const version = schemaVersion(db);
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

/** The version of a file's tables; 0 when it has none. */
export function schemaVersion(db: DatabaseSync): number {
  return Number(db.prepare("pragma user_version").get()?.user_version);
}
