-- What is read of the state by those who watch it, what a second channel is told, and how old rows go.

drop function opsctl_state.stats();
create function opsctl_state.stats()
returns table (message_queued bigint, message_dead bigint, message_in_doubt bigint, message_age_ms bigint,
               issue_queued bigint, issue_dead bigint, issue_in_doubt bigint, issue_age_ms bigint,
               comment_queued bigint, comment_dead bigint, comment_in_doubt bigint, comment_age_ms bigint,
               queued_bytes bigint, critical_age_ms bigint)
language plpgsql rows 1
set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off
as $$
#variable_conflict use_column
declare
  v_now constant bigint := opsctl_state.now_ms();
begin
  return query
    select t.message_queued, t.message_dead, t.message_in_doubt, opsctl_state.oldest_age_ms('message', v_now),
           t.issue_queued, t.issue_dead, t.issue_in_doubt, opsctl_state.oldest_age_ms('issue', v_now),
           t.comment_queued, t.comment_dead, t.comment_in_doubt, opsctl_state.oldest_age_ms('comment', v_now),
           t.queued_bytes,
           (select greatest(0, v_now - o.age_from) from opsctl_state.outbox as o
            where o.kind = 'message' and o.priority = 0 and o.settled_at is null order by o.age_from limit 1)
    from opsctl_state.totals as t;
end $$;

create function opsctl_state.oldest_age_ms(p_kind text, p_now bigint)
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off
as $$
begin
  return (select greatest(0, p_now - o.age_from) from opsctl_state.outbox as o
          where o.kind = p_kind and o.state = 'queued' order by o.age_from limit 1);
end $$;

create or replace function opsctl_state.latest(p_key text)
returns table (kind text, state text, attempts integer, code text, reference text, url text)
language plpgsql rows 3
set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off
as $$
#variable_conflict use_column
begin
  return query
    select newest.kind, newest.state, newest.attempts, newest.code, newest.reference, newest.url
    from (values ('message'), ('issue'), ('comment')) as k(kind)
    cross join lateral (
      select o.* from opsctl_state.outbox as o
      where o.kind || ':' || o.issue_key = k.kind || ':' || p_key order by o.id + 0 desc limit 1) as newest;
end $$;

-- Rows that wait, in the order in which they would go out.
create function opsctl_state.list_queued(p_limit bigint)
returns table (id bigint, kind text, digest bigint, alertname text, fingerprint text, squad text, facts text,
               attempts integer, code text, accepted_at bigint, next_attempt_at bigint)
language plpgsql rows 100
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  return query
    select o.id, o.kind, o.digest, o.alertname, o.fingerprint, o.squad, coalesce(o.shown, o.alert),
           o.attempts + o.is_unsettled::int, o.code, o.accepted_at, case when o.attempts > 0 then o.due_at end
    from opsctl_state.outbox as o
    where o.state = 'queued'
    order by case o.kind when 'message' then 0 when 'issue' then 1 else 2 end, o.priority, o.id limit p_limit;
end $$;

-- Which of these ids of the peer are those of rows of a kind.
create function opsctl_state.held_references(p_kind text, p_references json)
returns setof text
language plpgsql rows 10
set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_reference text;
begin
  for v_reference in select r.value from json_array_elements_text(p_references) as r(value)
  loop
    perform from opsctl_state.outbox as o
    where left(o.reference, 200) = left(v_reference, 200) and o.reference = v_reference and o.kind = p_kind limit 1;
    if found then
      return next v_reference;
    end if;
  end loop;
end $$;

-- Ids of the peer of messages that were delivered within a range of ages, newest first.
create function opsctl_state.delivered_between(p_newer_than_ms bigint, p_older_than_ms bigint, p_limit bigint)
returns setof text
language plpgsql rows 100
set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off
as $$
declare
  v_now constant bigint := opsctl_state.now_ms();
begin
  return query
    select o.reference from opsctl_state.outbox as o
    where o.state = 'delivered' and o.settled_at > v_now - p_newer_than_ms and o.settled_at <= v_now - p_older_than_ms
      and o.kind = 'message' and o.digest is null and o.reference is not null
    order by o.settled_at desc limit p_limit;
end $$;

create function opsctl_state.begun_within(p_kind text, p_ms bigint)
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_now constant bigint := opsctl_state.now_ms();
begin
  return (select count(*) from opsctl_state.attempts as a
          where a.kind = p_kind and a.begun_at > v_now - p_ms and a.begun_at <= v_now);
end $$;

-- Remembers why a channel holds, and since when; null: it does not.
create function opsctl_state.hold(p_kind text, p_code text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_code is null then
    delete from opsctl_state.holds as h where h.kind = p_kind;
  else
    insert into opsctl_state.holds as h (kind, code, since) values (p_kind, p_code, opsctl_state.now_ms())
    on conflict (kind) do update set code = excluded.code, since = excluded.since where h.code <> excluded.code;
  end if;
end $$;

-- Messages for the second channel, oldest first: the urgent ones that wait for so long, and all in doubt.
create function opsctl_state.unheard(p_waited_ms bigint, p_limit bigint)
returns table (id bigint, alert text, state text, accepted_at bigint, issue_url text)
language plpgsql rows 100
set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_bitmapscan = off
as $$
#variable_conflict use_column
declare
  v_now constant bigint := opsctl_state.now_ms();
begin
  return query
    with unheard as (
      (select o.* from opsctl_state.outbox as o
       where o.is_urgent and o.emailed_at is null and o.settled_at is null
         and (o.accepted_at <= v_now - p_waited_ms or o.accepted_at > v_now)
       order by o.accepted_at limit p_limit)
      union all
      (select o.* from opsctl_state.outbox as o
       where o.kind = 'message' and o.state = 'in_doubt' and o.emailed_at is null
       order by o.accepted_at limit p_limit))
    select u.id, u.alert, u.state, u.accepted_at, opsctl_state.issue_url(u.issue_key, null, v_now)
    from unheard as u order by u.accepted_at, u.id limit p_limit;
end $$;

-- Urgent messages that were delivered with these ids of the peer and have not gone the other way.
create function opsctl_state.unacknowledged(p_references json)
returns table (id bigint, fingerprint text, shown text, accepted_at bigint, issue_url text)
language plpgsql rows 10
set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_bitmapscan = off
as $$
#variable_conflict use_column
declare
  v_now       constant bigint := opsctl_state.now_ms();
  v_reference text;
begin
  for v_reference in select r.value from json_array_elements_text(p_references) as r(value)
  loop
    -- Apart, so that no other index looks better to a planner that knows nothing.
    return query
      with found as materialized (
        select o.* from opsctl_state.outbox as o
        where left(o.reference, 200) = left(v_reference, 200) and o.reference = v_reference)
      select f.id, f.fingerprint, f.shown, f.accepted_at, opsctl_state.issue_url(f.issue_key, null, v_now)
      from found as f
      where f.kind = 'message' and f.state = 'delivered' and f.is_urgent and f.emailed_at is null
      order by f.id;
  end loop;
end $$;

-- Records that messages went the other way; each counts once.
create function opsctl_state.record_emailed(p_rows json)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_bitmapscan = off set lock_timeout = '3s'
as $$
declare
  v_ids   constant bigint[] := array(select r.value::bigint from json_array_elements_text(p_rows) as r(value));
  v_count bigint;
begin
  perform from opsctl_state.totals for update;
  update opsctl_state.outbox as o set emailed_at = opsctl_state.now_ms()
  where o.id = any (v_ids) and o.emailed_at is null;
  get diagnostics v_count = row_count;
  update opsctl_state.totals as t set detour_emailed = t.detour_emailed + v_count;
end $$;

create function opsctl_state.record_detour_told(p_emailed bigint, p_given_up bigint)
returns void
language sql
set search_path = pg_catalog, pg_temp
as $$
  update opsctl_state.totals
  set detour_emailed = greatest(0, detour_emailed - p_emailed),
      detour_given_up = greatest(0, detour_given_up - p_given_up)
$$;

-- The latest messages, newest first, with the issue that each of them created.
create function opsctl_state.recent(p_limit bigint)
returns table (id bigint, accepted_at bigint, shown text, state text, code text, settled_at bigint, is_emailed boolean,
               issue_state text, issue_code text, issue_url text)
language plpgsql rows 100
set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off
as $$
#variable_conflict use_column
begin
  return query
    select m.id, m.accepted_at, m.shown, m.state, m.code, m.settled_at, m.emailed_at is not null,
           i.state, i.code, i.url
    from (
      -- Rows of before say nothing, and are older than all that do.
      select o.* from opsctl_state.outbox as o where o.kind = 'message' order by o.id desc limit p_limit) as m
    left join lateral (
      select o.* from opsctl_state.outbox as o
      where o.kind || ':' || o.issue_key = 'issue:' || m.issue_key and o.id + 0 > m.id order by o.id + 0 limit 1) as i
      on i.message_row = m.id
    where m.shown is not null
    order by m.id desc;
end $$;

-- Removes a share of what has had its time; returns whether there is more.
create function opsctl_state.prune_old(p_keep_delivered_ms bigint, p_keep_ended_ms bigint, p_share bigint)
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set lock_timeout = '3s'
as $$
declare
  v_now       constant bigint := opsctl_state.now_ms();
  v_delivered constant bigint[] := array(
    select o.id from opsctl_state.outbox as o
    where o.state = 'delivered' and o.settled_at <= v_now - p_keep_delivered_ms order by o.settled_at limit p_share);
  v_ended     constant bigint[] := array(
    select o.id from opsctl_state.outbox as o
    where o.state in ('dead', 'in_doubt') and o.settled_at <= v_now - p_keep_ended_ms
    order by o.settled_at limit p_share / 5);
begin
  delete from opsctl_state.outbox as o where o.id = any (v_delivered);
  if cardinality(v_ended) > 0 then
    perform opsctl_state.drop_rows(v_ended, true);
  end if;
  return cardinality(v_delivered) = p_share or cardinality(v_ended) = p_share / 5;
end $$;

-- Removes what is remembered for a while only.
create function opsctl_state.prune_memory(p_keep_batches_ms bigint, p_keep_episodes_ms bigint)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
declare
  v_now constant bigint := opsctl_state.now_ms();
begin
  delete from opsctl_state.batches as b where b.settled_at <= v_now - p_keep_batches_ms;
  delete from opsctl_state.attempts as a where a.begun_at <= v_now - 3600000;
  delete from opsctl_state.episodes as e where e.seen_at <= v_now - p_keep_episodes_ms;
  delete from opsctl_state.hours as h where h.hour < v_now / 3600000 - 744;
end $$;

create or replace function opsctl_state.prune_outbox(
  p_keep_delivered_ms bigint, p_keep_batches_ms bigint, p_share bigint)
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform opsctl_state.prune_memory(p_keep_batches_ms, p_keep_delivered_ms);
  -- Hosts of before keep what was given up.
  return opsctl_state.prune_old(p_keep_delivered_ms, 9000000000000, p_share);
end $$;

-- What is new is used by the owner alone, too.

do $$
declare
  v_grant record;
begin
  for v_grant in
    select distinct 'schema opsctl_state' as object, a.grantee
    from pg_namespace as n, aclexplode(n.nspacl) as a
    where n.nspname = 'opsctl_state' and a.grantee <> n.nspowner
    union
    select 'all tables in schema opsctl_state', a.grantee
    from pg_class as c, aclexplode(c.relacl) as a
    where c.relnamespace = 'opsctl_state'::regnamespace and c.relkind = 'r' and a.grantee <> c.relowner
    union
    select 'all sequences in schema opsctl_state', a.grantee
    from pg_class as c, aclexplode(c.relacl) as a
    where c.relnamespace = 'opsctl_state'::regnamespace and c.relkind = 'S' and a.grantee <> c.relowner
    union
    select 'all functions in schema opsctl_state', a.grantee
    from pg_proc as p, aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) as a
    where p.pronamespace = 'opsctl_state'::regnamespace and a.grantee <> p.proowner
  loop
    execute format('revoke all on %s from %s', v_grant.object,
                   case v_grant.grantee when 0 then 'public' else v_grant.grantee::regrole::text end);
  end loop;
end $$;
