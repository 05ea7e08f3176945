-- What an alarm that can be trusted keeps: the text of a row before its first attempt, doubt, time in which a row was
-- tried, digests, comments, holds, the second channel, and what a page shows. Rows of before are kept as they are.

alter table opsctl_state.outbox
  -- What the first attempt sends, and every other one.
  add column text         text,
  add column first_begun_at bigint,
  -- An attempt began, and its end was never recorded.
  add column is_unsettled boolean not null default false,
  add column unclear      integer not null default 0,
  -- When the latest attempt ended that was passed on and answered in the peer's place.
  add column unanswered_at bigint,
  add column tried_ms     bigint not null default 0,
  -- The call that changed it last, for the host that lost its answer and asks again.
  add column call_token   uuid,
  -- The row whose text tells this one, too.
  add column digest       bigint,
  add column has_members  boolean not null default false,
  -- The issue that a comment is for; until that is delivered, the comment is blocked.
  add column issue_row    bigint,
  add column is_blocked   boolean not null default false,
  add column is_repeat    boolean not null default false,
  add column is_urgent    boolean not null default false,
  add column emailed_at   bigint,
  -- What is kept of a message's alert for people, also when it was delivered.
  add column shown        text,
  drop constraint outbox_kind_check,
  drop constraint outbox_state_check,
  drop constraint outbox_check,
  drop constraint outbox_text,
  drop constraint outbox_settled,
  drop constraint outbox_issue;

-- Whether the columns of a row fit each other. One function: the expressions of constraints are read from their text again
-- for every statement, those of a function are kept. Measured on PostgreSQL 18, six constraints were a quarter of accepting.
create function opsctl_state.fits(
  p_kind text, p_state text, p_is_head boolean, p_alert text, p_settled_at bigint, p_message_row bigint,
  p_claim_token uuid, p_claimed_at bigint, p_issue_row bigint)
returns boolean
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return p_kind in ('message', 'issue', 'comment')
    and p_state in ('queued', 'delivered', 'dead', 'in_doubt')
    and (p_state = 'queued' or not p_is_head)
    and (p_state = 'queued') = (p_settled_at is null)
    and (p_state = 'delivered') = (p_alert is null)
    and (p_kind = 'issue') = (p_message_row is not null)
    and (p_kind = 'issue') = (p_claim_token is not null)
    and (p_kind <> 'message') = (p_claimed_at is not null)
    and (p_kind = 'comment') = (p_issue_row is not null);
end $$;
alter table opsctl_state.outbox
  add constraint outbox_fits check (
    opsctl_state.fits(
      kind, state, is_head, alert, settled_at, message_row, claim_token, claimed_at, issue_row));

update opsctl_state.outbox set is_urgent = true where kind = 'message' and state = 'queued' and priority = 0;

-- By the statistics of an emptied table all plans cost the same, and any index that has the order or one of the columns
-- will do: an index with an expression of its own can only be meant.
drop index opsctl_state.outbox_turn, opsctl_state.outbox_dead, opsctl_state.outbox_waiting, opsctl_state.outbox_newest;
create index outbox_waiting on opsctl_state.outbox (kind, issue_key, (id + 0)) where state = 'queued';
create index outbox_newest on opsctl_state.outbox ((kind || ':' || issue_key), (id + 0));
-- Rows that wait for nothing, in their order; and those that were tried and wait for their next attempt, by its time, so
-- that they cost the others nothing however many they are.
create index outbox_turn on opsctl_state.outbox (kind, priority, id)
  where (is_head or has_members) and settled_at is null and not is_blocked and digest is null
    and due_at <= waits_from;
create index outbox_again on opsctl_state.outbox (kind, priority, due_at)
  where (is_head or has_members) and settled_at is null and not is_blocked and digest is null
    and due_at > waits_from;
create index outbox_ended on opsctl_state.outbox (id) where state in ('dead', 'in_doubt');
create index outbox_ended_age on opsctl_state.outbox (settled_at) where state in ('dead', 'in_doubt');
create index outbox_members on opsctl_state.outbox (digest) where digest is not null;
create index outbox_comments on opsctl_state.outbox (issue_row) where issue_row is not null;
create index outbox_urgent on opsctl_state.outbox (accepted_at)
  where is_urgent and emailed_at is null and settled_at is null;
create index outbox_critical on opsctl_state.outbox (age_from)
  where kind = 'message' and priority = 0 and settled_at is null;
create index outbox_doubt on opsctl_state.outbox (accepted_at)
  where kind = 'message' and state = 'in_doubt' and emailed_at is null;
-- A peer's id can be longer than an index takes.
create index outbox_reference on opsctl_state.outbox (left(reference, 200)) where reference is not null;

alter table opsctl_state.totals
  add column comment_queued   bigint not null default 0,
  add column comment_dead     bigint not null default 0,
  add column message_in_doubt bigint not null default 0,
  add column issue_in_doubt   bigint not null default 0,
  add column comment_in_doubt bigint not null default 0,
  -- Messages that wait, are not critical, and are in no other row's text.
  add column waiting_messages bigint not null default 0,
  -- What went the other way, or was given up, since a message said so.
  add column detour_emailed   bigint not null default 0,
  add column detour_given_up  bigint not null default 0,
  drop constraint totals_message_queued_check,
  drop constraint totals_issue_queued_check,
  drop constraint totals_message_dead_check,
  drop constraint totals_issue_dead_check,
  drop constraint totals_queued_bytes_check,
  -- One for all, for the same reason.
  add constraint totals_counts check (
    least(message_queued, issue_queued, comment_queued, message_dead, issue_dead, comment_dead, message_in_doubt,
          issue_in_doubt, comment_in_doubt, waiting_messages, queued_bytes, detour_emailed, detour_given_up) >= 0);
update opsctl_state.totals
set waiting_messages = (
  select count(*) from opsctl_state.outbox as o
  where o.kind = 'message' and o.state = 'queued' and o.priority > 0);

-- The last that was accepted of each fingerprint, and its newest issue.
create table opsctl_state.episodes (
  issue_key  text primary key,
  starts_at  text,
  is_firing  boolean not null,
  issue_row  bigint,
  claimed_at bigint,
  -- The end of the day on which it was accepted last: an index of the time itself would be written for each alert.
  seen_at    bigint not null,
  constraint episodes_issue check ((issue_row is null) = (claimed_at is null))
);
create index episodes_age on opsctl_state.episodes (seen_at);
insert into opsctl_state.episodes (issue_key, is_firing, issue_row, claimed_at, seen_at)
select distinct on (o.issue_key) o.issue_key, true, o.id, o.claimed_at, o.accepted_at
from opsctl_state.outbox as o
where o.kind = 'issue' and o.state <> 'dead'
order by o.issue_key, o.id desc;

-- When attempts began: what the pace counts, for an hour.
create table opsctl_state.attempts (
  id       bigint generated always as identity primary key,
  kind     text not null,
  begun_at bigint not null
);
create index attempts_age on opsctl_state.attempts (kind, begun_at);

-- The channels that hold.
create table opsctl_state.holds (
  kind  text primary key,
  code  text not null,
  since bigint not null
);

-- How many alerts were accepted in each hour since 1970.
create table opsctl_state.hours (
  hour   bigint primary key,
  alerts bigint not null
);

-- The e-mail of the second channel that is on its way: one row at most.
create table opsctl_state.email (
  id      bigint primary key check (id = 1),
  content text not null
);

alter table opsctl_state.email enable row level security;
alter table opsctl_state.episodes enable row level security;
alter table opsctl_state.attempts enable row level security;
alter table opsctl_state.holds enable row level security;
alter table opsctl_state.hours enable row level security;

-- What there is more of with p_row (p_sign 1), or less of without it (-1), added to p_delta.
create function opsctl_state.tally(p_delta opsctl_state.totals, p_row opsctl_state.outbox, p_sign integer)
returns opsctl_state.totals
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v opsctl_state.totals := p_delta;
begin
  if p_row.state = 'queued' then
    v.queued_bytes := coalesce(v.queued_bytes, 0) + p_sign * p_row.bytes;
    if p_row.kind = 'message' then
      v.message_queued := coalesce(v.message_queued, 0) + p_sign;
      if p_row.priority > 0 and p_row.digest is null then
        v.waiting_messages := coalesce(v.waiting_messages, 0) + p_sign;
      end if;
    elsif p_row.kind = 'issue' then
      v.issue_queued := coalesce(v.issue_queued, 0) + p_sign;
    else
      v.comment_queued := coalesce(v.comment_queued, 0) + p_sign;
    end if;
  elsif p_row.state <> 'delivered' then
    v.message_dead := coalesce(v.message_dead, 0) + p_sign * (p_row.kind = 'message' and p_row.state = 'dead')::int;
    v.issue_dead := coalesce(v.issue_dead, 0) + p_sign * (p_row.kind = 'issue' and p_row.state = 'dead')::int;
    v.comment_dead := coalesce(v.comment_dead, 0) + p_sign * (p_row.kind = 'comment' and p_row.state = 'dead')::int;
    v.message_in_doubt := coalesce(v.message_in_doubt, 0)
      + p_sign * (p_row.kind = 'message' and p_row.state = 'in_doubt')::int;
    v.issue_in_doubt := coalesce(v.issue_in_doubt, 0)
      + p_sign * (p_row.kind = 'issue' and p_row.state = 'in_doubt')::int;
    v.comment_in_doubt := coalesce(v.comment_in_doubt, 0)
      + p_sign * (p_row.kind = 'comment' and p_row.state = 'in_doubt')::int;
  end if;
  return v;
end $$;

-- Adds a difference to the totals; the caller holds their lock.
create function opsctl_state.add_totals(p opsctl_state.totals)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  update opsctl_state.totals as t
  set message_queued = t.message_queued + coalesce(p.message_queued, 0),
      issue_queued = t.issue_queued + coalesce(p.issue_queued, 0),
      comment_queued = t.comment_queued + coalesce(p.comment_queued, 0),
      message_dead = t.message_dead + coalesce(p.message_dead, 0),
      issue_dead = t.issue_dead + coalesce(p.issue_dead, 0),
      comment_dead = t.comment_dead + coalesce(p.comment_dead, 0),
      message_in_doubt = t.message_in_doubt + coalesce(p.message_in_doubt, 0),
      issue_in_doubt = t.issue_in_doubt + coalesce(p.issue_in_doubt, 0),
      comment_in_doubt = t.comment_in_doubt + coalesce(p.comment_in_doubt, 0),
      waiting_messages = t.waiting_messages + coalesce(p.waiting_messages, 0),
      queued_bytes = t.queued_bytes + coalesce(p.queued_bytes, 0),
      detour_given_up = t.detour_given_up + coalesce(p.detour_given_up, 0);
end $$;

-- Counts everything again; the caller holds the lock of the totals.
create or replace function opsctl_state.recount()
returns void
language sql
set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
as $$
  update opsctl_state.totals
  set (message_queued, issue_queued, comment_queued, waiting_messages, queued_bytes,
       message_dead, issue_dead, comment_dead, message_in_doubt, issue_in_doubt, comment_in_doubt) = (
    select count(*) filter (where o.kind = 'message' and o.state = 'queued'),
           count(*) filter (where o.kind = 'issue' and o.state = 'queued'),
           count(*) filter (where o.kind = 'comment' and o.state = 'queued'),
           count(*) filter (
             where o.kind = 'message' and o.state = 'queued' and o.priority > 0 and o.digest is null),
           coalesce(sum(o.bytes) filter (where o.state = 'queued'), 0),
           count(*) filter (where o.kind = 'message' and o.state = 'dead'),
           count(*) filter (where o.kind = 'issue' and o.state = 'dead'),
           count(*) filter (where o.kind = 'comment' and o.state = 'dead'),
           count(*) filter (where o.kind = 'message' and o.state = 'in_doubt'),
           count(*) filter (where o.kind = 'issue' and o.state = 'in_doubt'),
           count(*) filter (where o.kind = 'comment' and o.state = 'in_doubt')
    from opsctl_state.outbox as o where o.state <> 'delivered')
$$;
