-- The webhook's state, for SQLite and PostgreSQL alike. Times are milliseconds of the epoch, what is true or false is 1
-- or 0, what has a structure is JSON. `{outbox}` is the table `outbox`, in PostgreSQL that of the schema opsctl_state; `{id}`
-- the type of a row's number: integer, or bigint.

-- What each fingerprint is known for: whether it fires, and its newest issue that was not given up. While `claim_until`
-- is not over no second issue is created for it.
create table {alert} (
  fingerprint text primary key,
  firing integer not null,
  starts_at text,
  seen_at bigint not null,
  issue_id text,
  issue_url text,
  claim_until bigint not null
);
create index alert_seen on {alert} (seen_at);

-- `issue_id` is the tracker's id of the issue that a row creates, or comments on; of a message, of the issue that was
-- claimed with it, whose row is the next one. `alert` is what was accepted; of a delivered row, what people are shown.
-- `content` is the text of an attempt, while one with it may have arrived or is in flight (`sending`); `digest` the row
-- whose text contains this one's alert. `due_at` is 0 for a row that was never tried.
create table {outbox} (
  id {id} primary key,
  kind text not null,
  state text not null default 'queued',
  fingerprint text not null,
  priority integer not null,
  urgent integer not null,
  is_repeat integer not null,
  issue_id text,
  bytes bigint not null,
  accepted_at bigint not null,
  waits_since bigint not null,
  due_at bigint not null default 0,
  alert text not null,
  content text,
  digest bigint,
  attempts integer not null default 0,
  ambiguous integer not null default 0,
  sending integer not null default 0,
  tried_ms bigint not null default 0,
  begun_at bigint,
  first_begun_at bigint,
  ended_at bigint,
  code text,
  reference text,
  url text,
  emailed_at bigint
);
create index outbox_due on {outbox} (kind, priority, id, waits_since) where state = 'queued' and digest is null;
create index outbox_line on {outbox} (kind, fingerprint, id, bytes, waits_since) where state = 'queued';
create index outbox_digest on {outbox} (digest) where digest is not null;
create index outbox_urgent on {outbox} (id) where urgent = 1 and emailed_at is null and state in ('queued', 'unknown');
create index outbox_delivered on {outbox} (ended_at) where state = 'delivered';
create index outbox_ended on {outbox} (ended_at) where state in ('dead', 'unknown');
create index outbox_reference on {outbox} (reference) where reference is not null;

-- `version` of this schema; `next_id`; `lease`; `paused:<kind>` and `pace:<kind>` of each lane; `email`, the pending one;
-- `emailed` and `undelivered`, what the next message has to say; `adopted:<id>`, the last row taken from another store.
create table {meta} (key text primary key, value text not null);
