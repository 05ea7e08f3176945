/** State files of older versions. */
import { DatabaseSync } from "node:sqlite";
import type { Alert } from "../../../lib/webhook/alert/alert.ts";
import { sampleAlert } from "./sample-alert.ts";
import { START_MS } from "./state-fixture.ts";

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
  create index outbox_due on outbox (kind, priority, next_attempt_at_ms, id)
    where state = 'queued' and is_head = 1;
  create index outbox_queued on outbox (kind, fingerprint, id, bytes, age_from_ms) where state = 'queued';
  create index outbox_dead on outbox (id, kind) where state = 'dead';
  create index outbox_delivered on outbox (ended_at_ms) where state = 'delivered';
  create table room (id integer primary key, filling blob not null) strict;
  create table if not exists dedup (
    key text primary key not null,
    token text not null,
    claimed_at_ms integer not null,
    expires_at_ms integer not null,
    ttl_ms integer not null,
    value text
  ) strict, without rowid;
  create index if not exists dedup_expires on dedup (expires_at_ms);
  pragma user_version = 1;
`;

/** What version 2 changed. */
const VERSION_2 = `
  drop index outbox_due; drop index outbox_queued; drop index outbox_dead; drop index outbox_delivered;
  create index outbox_due on outbox (kind, priority, next_attempt_at_ms, id)
    where state = 'queued' and is_head = 1;
  create index outbox_heads on outbox (kind, fingerprint) where state = 'queued' and is_head = 1;
  create index outbox_queued on outbox (kind, id, fingerprint, bytes, age_from_ms) where state = 'queued';
  create index outbox_dead on outbox (id, kind) where state = 'dead';
  create index outbox_delivered on outbox (ended_at_ms) where state = 'delivered';
  pragma user_version = 2;
`;

const INSERT = `
  insert into outbox (kind, fingerprint, priority, accepted_at_ms, bytes, alert, state, age_from_ms, is_head)
  values ('message', ?1, 1, ?2, 100, ?3, ?4, ?2, ?4 = 'queued' and not exists (
    select 1 from outbox where state = 'queued' and kind = 'message' and fingerprint = ?1))`;
const PROMOTE = `
  update outbox set is_head = 1 where id =
    (select min(id) from outbox where state = 'queued' and kind = ? and fingerprint = ?)`;

/** What version 1 does with a file that it has open, its statements prepared once. */
export type Version1 = {
  insert(fingerprint: string, state: "queued" | "dead", changes?: Partial<Alert>): number;
  deliver(id: number): void;
  close(): void;
};

/** Makes an empty file of version 1 or 2 and leaves it open. */
export function createVersion1(path: string, version: 1 | 2 = 1): Version1 {
  const db = new DatabaseSync(path, { timeout: 2_000 });
  db.exec(`pragma journal_mode = wal; ${TABLES} ${version === 2 ? VERSION_2 : ""}`);
  const insert = db.prepare(INSERT);
  const find = db.prepare("select kind, fingerprint, is_head from outbox where id = ?");
  const end = db.prepare("update outbox set state = 'delivered', is_head = 0, ended_at_ms = ? where id = ?");
  const promote = db.prepare(PROMOTE);
  return {
    insert(fingerprint, state, changes) {
      const alert = JSON.stringify(sampleAlert({ fingerprint, ...changes }));
      return Number(insert.run(fingerprint, START_MS, alert, state).lastInsertRowid);
    },
    deliver(id) {
      const row = find.get(id) as { kind: string; fingerprint: string; is_head: number };
      end.run(START_MS, id);
      if (row.is_head === 1) promote.run(row.kind, row.fingerprint);
    },
    close: () => db.close(),
  };
}
