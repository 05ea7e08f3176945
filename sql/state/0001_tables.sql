-- The webhook's state for several hosts: outbox, dedup of issues, and who delivers. Applied by the service itself.
-- Texts of senders are stored as the inside of a JSON string: a text column takes neither NUL nor half a surrogate.

do $$ begin
  -- Even "if not exists" asks for the right to create one.
  if to_regnamespace('opsctl_state') is null then create schema opsctl_state; end if;
end $$;

comment on schema opsctl_state is 'The state of opsctl webhook serve; its owner alone uses it.';

create table opsctl_state.versions (
  version    integer primary key,
  applied_at timestamptz not null default now()
);

create table opsctl_state.dedup (
  key        text primary key,
  token      uuid not null,
  claimed_at bigint not null,
  ttl_ms     bigint not null,
  expires_at bigint not null,
  value      text
);
create index dedup_expiry on opsctl_state.dedup (expires_at);

create table opsctl_state.outbox (
  id          bigint generated always as identity primary key,
  kind        text not null check (kind in ('message', 'issue')),
  state       text not null default 'queued' check (state in ('queued', 'delivered', 'dead')),
  -- The oldest undelivered row of its kind and fingerprint: the others wait for it.
  is_head     boolean not null default false check (not is_head or state = 'queued'),
  priority    smallint not null,
  -- The dedup key of the fingerprint's issue; short enough for an index, which a fingerprint need not be.
  issue_key   text not null,
  fingerprint text not null,
  squad       text not null,
  alertname   text,
  alert       text,
  bytes       bigint not null,
  message_row bigint,
  claim_token uuid,
  claimed_at  bigint,
  accepted_at bigint not null,
  age_from    bigint not null,
  -- It waits from one instant to the other; a clock set back to before the first ends the waiting too.
  waits_from  bigint not null,
  due_at      bigint not null,
  attempts    integer not null default 0,
  code        text,
  reference   text,
  url         text,
  settled_at  bigint,

  constraint outbox_text check ((state = 'delivered') = (alert is null)),
  constraint outbox_settled check ((state = 'queued') = (settled_at is null)),
  constraint outbox_issue check (
    (kind = 'issue') = (message_row is not null)
    and (message_row is null) = (claim_token is null)
    and (message_row is null) = (claimed_at is null))
);
comment on column opsctl_state.outbox.age_from is 'When it was accepted, or revived after it was given up.';

create unique index outbox_head on opsctl_state.outbox (kind, issue_key) where is_head;
create index outbox_turn on opsctl_state.outbox (kind, priority, id) where is_head;
create index outbox_waiting on opsctl_state.outbox (kind, issue_key, id) where state = 'queued';
create index outbox_age on opsctl_state.outbox (kind, age_from) where state = 'queued';
create index outbox_newest on opsctl_state.outbox (issue_key, kind, id);
create index outbox_dead on opsctl_state.outbox (id) where state = 'dead';
create index outbox_delivered on opsctl_state.outbox (settled_at) where state = 'delivered';

-- One row: how much there is, and the lock that whoever adds or settles rows takes first. So rows are committed in
-- the order of their ids, a head is never missed, and two batches cannot wait for each other.
create table opsctl_state.totals (
  singleton      boolean primary key default true check (singleton),
  message_queued bigint not null default 0 check (message_queued >= 0),
  issue_queued   bigint not null default 0 check (issue_queued >= 0),
  message_dead   bigint not null default 0 check (message_dead >= 0),
  issue_dead     bigint not null default 0 check (issue_dead >= 0),
  queued_bytes   bigint not null default 0 check (queued_bytes >= 0)
) with (fillfactor = 10);
insert into opsctl_state.totals default values;

-- What became of a batch, for the host that lost the answer and asks again.
create table opsctl_state.batches (
  id         uuid primary key,
  outcomes   text not null,
  settled_at bigint not null
);
create index batches_age on opsctl_state.batches (settled_at);

create table opsctl_state.lease (
  name       text primary key,
  holder     uuid not null,
  expires_at bigint not null
);

alter table opsctl_state.versions enable row level security;
alter table opsctl_state.dedup enable row level security;
alter table opsctl_state.outbox enable row level security;
alter table opsctl_state.totals enable row level security;
alter table opsctl_state.batches enable row level security;
alter table opsctl_state.lease enable row level security;

-- The clock, in milliseconds since 1970.
create function opsctl_state.now_ms()
returns bigint
language sql volatile
set search_path = ''
as $$ select floor(extract(epoch from clock_timestamp()) * 1000)::bigint $$;
