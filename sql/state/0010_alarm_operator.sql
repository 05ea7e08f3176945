-- What an operator does with rows that were given up, are in doubt, or wait.

-- The rows that are named, and all whose alerts the same texts tell, of those that have ended; null means all of them.
create function opsctl_state.ended_texts(p_rows json)
returns bigint[]
language plpgsql
set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_ids bigint[];
begin
  if p_rows is null then
    return array(select o.id from opsctl_state.outbox as o where o.state in ('dead', 'in_doubt') order by o.id);
  end if;
  v_ids := array(select r.value::bigint from json_array_elements_text(p_rows) as r(value));
  v_ids := array(
    select distinct coalesce(o.digest, o.id) from opsctl_state.outbox as o where o.id = any (v_ids));
  v_ids := v_ids || array(select o.id from opsctl_state.outbox as o where o.digest = any (v_ids));
  return array(select i from unnest(v_ids) as i order by i);
end $$;

-- Whether a row may be tried again: an issue takes its claim again, unless another has it; a comment needs its issue.
create function opsctl_state.may_revive(p_row opsctl_state.outbox, p_issue_ttl_ms bigint, p_now bigint)
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_bitmapscan = off
as $$
begin
  if p_row.kind = 'issue' then
    insert into opsctl_state.dedup as d (key, token, claimed_at, ttl_ms, expires_at)
    values (p_row.issue_key, p_row.claim_token, p_row.claimed_at, p_issue_ttl_ms, p_now + p_issue_ttl_ms)
    on conflict (key) do update
      set token = excluded.token, claimed_at = excluded.claimed_at, ttl_ms = excluded.ttl_ms,
          expires_at = excluded.expires_at, value = null
      where d.expires_at <= p_now or d.token = excluded.token;
    return found;
  end if;
  return p_row.kind = 'message'
    or not exists (select from opsctl_state.outbox as i
                   where i.id = p_row.issue_row and i.settled_at is not null and i.alert is not null);
end $$;

create or replace function opsctl_state.retry_dead(p_rows json, p_issue_ttl_ms bigint)
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_bitmapscan = off set lock_timeout = '3s'
as $$
declare
  v_now   bigint;
  v_count bigint := 0;
  v_id    bigint;
  v_row   opsctl_state.outbox;
  v_delta opsctl_state.totals;
begin
  perform from opsctl_state.totals for update;
  v_now := opsctl_state.now_ms();
  foreach v_id in array opsctl_state.ended_texts(p_rows)
  loop
    select o.* into v_row from opsctl_state.outbox as o where o.id = v_id for update;
    continue when v_row.state not in ('dead', 'in_doubt')
      or not opsctl_state.may_revive(v_row, p_issue_ttl_ms, v_now);
    v_delta := opsctl_state.tally(v_delta, v_row, -1);
    update opsctl_state.outbox as o
    set state = 'queued', attempts = 0, unclear = 0, tried_ms = 0, is_unsettled = false, call_token = null,
        waits_from = v_now, due_at = v_now, age_from = v_now, settled_at = null, code = null,
        is_blocked = coalesce(
          (select i.settled_at is null from opsctl_state.outbox as i where i.id = o.issue_row), false)
    where o.id = v_id
    returning o.* into v_row;
    v_delta := opsctl_state.tally(v_delta, v_row, 1);
    perform opsctl_state.promote(v_row.kind, v_row.issue_key);
    v_count := v_count + 1;
  end loop;
  perform opsctl_state.add_totals(v_delta);
  return v_count;
end $$;

-- Removes a row: those that its text tells become rows of their own. The claim and the waiting comments of an issue that
-- waited go with it. Returns what there is more and less of. The caller holds the lock of the totals.
create function opsctl_state.remove_row(
  p_row opsctl_state.outbox, p_delta opsctl_state.totals, p_now bigint)
returns opsctl_state.totals
language plpgsql
set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
  v_delta opsctl_state.totals := opsctl_state.tally(p_delta, p_row, -1);
  v_other opsctl_state.outbox;
begin
  delete from opsctl_state.outbox as o where o.id = p_row.id;
  for v_other in select o.* from opsctl_state.outbox as o where o.digest = p_row.id
  loop
    v_delta := opsctl_state.tally(v_delta, v_other, -1);
    update opsctl_state.outbox as o set digest = null where o.id = v_other.id returning o.* into v_other;
    v_delta := opsctl_state.tally(v_delta, v_other, 1);
  end loop;
  if p_row.state <> 'queued' then
    return v_delta;
  end if;
  perform opsctl_state.promote(p_row.kind, p_row.issue_key);
  if p_row.kind = 'issue' then
    perform opsctl_state.release(p_row.issue_key, p_row.claim_token::text, p_now);
    for v_other in select o.* from opsctl_state.outbox as o where o.issue_row = p_row.id
    loop
      continue when v_other.settled_at is not null;
      v_delta := opsctl_state.remove_row(v_other, v_delta, p_now);
    end loop;
  end if;
  return v_delta;
end $$;

-- Removes rows that have ended, or those that wait; returns how many of the named.
create function opsctl_state.drop_rows(p_ids bigint[], p_ended boolean)
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_bitmapscan = off set lock_timeout = '3s'
as $$
declare
  v_now   bigint;
  v_count bigint := 0;
  v_id    bigint;
  v_row   opsctl_state.outbox;
  v_delta opsctl_state.totals;
begin
  perform from opsctl_state.totals for update;
  v_now := opsctl_state.now_ms();
  foreach v_id in array p_ids
  loop
    select o.* into v_row from opsctl_state.outbox as o where o.id = v_id for update;
    continue when not found or v_row.state = 'delivered' or (v_row.state <> 'queued') <> p_ended;
    v_delta := opsctl_state.remove_row(v_row, v_delta, v_now);
    v_count := v_count + 1;
  end loop;
  perform opsctl_state.add_totals(v_delta);
  return v_count;
end $$;

create or replace function opsctl_state.drop_dead(p_rows json)
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  return opsctl_state.drop_rows(
    case when p_rows is null then opsctl_state.ended_texts(null)
         else array(select r.value::bigint from json_array_elements_text(p_rows) as r(value)) end,
    true);
end $$;

create function opsctl_state.drop_queued(p_rows json)
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  return opsctl_state.drop_rows(
    array(select r.value::bigint from json_array_elements_text(p_rows) as r(value)), false);
end $$;
