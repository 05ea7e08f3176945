-- Delivering: whose turn it is, how attempts ended, what was given up, and who delivers.
-- A plan made while the outbox was empty takes any of the indexes and reads all of it later: hence the custom plans.
-- Nor does a new one know better before the table is analysed, unless the order of one index is asked for.

create function opsctl_state.due(p_kind text, p_limit bigint, p_except json, p_issue_grace_ms bigint)
returns table (id bigint, alert text, attempts integer, age_ms bigint, claimed_at bigint, issue_url text)
language plpgsql rows 10
-- Reads the index of turns in its order, and stops when it has enough.
set search_path = '' set plan_cache_mode = force_custom_plan
set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off
as $$
#variable_conflict use_column
declare
  v_now    constant bigint := opsctl_state.now_ms();
  v_except constant bigint[] := array(select e.value::bigint from json_array_elements_text(p_except) as e(value));
begin
  return query
    select o.id, o.alert, o.attempts, greatest(0, v_now - o.age_from), o.claimed_at,
           (select d.value from opsctl_state.dedup as d where d.key = o.issue_key and d.expires_at > v_now)
    from opsctl_state.outbox as o
    where o.kind = p_kind and o.is_head and o.id <> all (v_except)
      and (o.due_at <= v_now or o.waits_from > v_now)
      and (o.message_row is null or v_now - o.age_from >= p_issue_grace_ms or o.age_from > v_now
           or not exists (select from opsctl_state.outbox as m
                          where m.id = o.message_row and m.state = 'queued' and m.attempts = 0))
    order by o.priority, o.id
    limit p_limit;
end $$;

-- Makes the oldest undelivered row the head of its kind and fingerprint; the caller holds the lock of the totals.
create function opsctl_state.promote(p_kind text, p_key text)
returns void
language plpgsql
set search_path = '' set plan_cache_mode = force_custom_plan
set enable_seqscan = off set enable_sort = off
as $$
declare
  v_first constant bigint := (
    select o.id from opsctl_state.outbox as o
    where o.kind = p_kind and o.issue_key = p_key and o.state = 'queued' order by o.id limit 1);
begin
  update opsctl_state.outbox as o set is_head = false
  where o.kind = p_kind and o.issue_key = p_key and o.is_head and o.id <> v_first;
  update opsctl_state.outbox as o set is_head = true where o.id = v_first and not o.is_head;
end $$;

create function opsctl_state.settle(
  p_row bigint, p_as text, p_delay_ms bigint, p_code text, p_reference text, p_url text)
returns void
language plpgsql
set search_path = '' set plan_cache_mode = force_custom_plan
set enable_seqscan = off set lock_timeout = '3s'
as $$
declare
  v_now bigint;
  v_row opsctl_state.outbox;
begin
  if p_as = 'retry' then
    v_now := opsctl_state.now_ms();
    update opsctl_state.outbox as o
    set attempts = o.attempts + 1, waits_from = v_now, due_at = v_now + p_delay_ms, code = p_code
    where o.id = p_row and o.state = 'queued';
    return;
  end if;
  perform from opsctl_state.totals for update;
  v_now := opsctl_state.now_ms();
  update opsctl_state.outbox as o
  set state = p_as, is_head = false, attempts = o.attempts + 1, settled_at = v_now,
      code = p_code, reference = p_reference, url = p_url,
      alert = case when p_as = 'dead' then o.alert end, alertname = case when p_as = 'dead' then o.alertname end
  where o.id = p_row and o.state = 'queued'
  returning o.* into v_row;
  if not found then
    return;
  end if;

  update opsctl_state.totals as t
  set message_queued = t.message_queued - (v_row.kind = 'message')::int,
      issue_queued = t.issue_queued - (v_row.kind = 'issue')::int,
      message_dead = t.message_dead + (v_row.kind = 'message' and p_as = 'dead')::int,
      issue_dead = t.issue_dead + (v_row.kind = 'issue' and p_as = 'dead')::int,
      queued_bytes = t.queued_bytes - v_row.bytes;
  perform opsctl_state.promote(v_row.kind, v_row.issue_key);
  if v_row.kind = 'issue' and p_as = 'delivered' then
    perform opsctl_state.confirm(v_row.issue_key, v_row.claim_token::text, null, p_url, v_now);
  elsif v_row.kind = 'issue' then
    perform opsctl_state.release(v_row.issue_key, v_row.claim_token::text, v_now);
  end if;
end $$;

-- Counts everything again; the caller holds the lock of the totals.
create function opsctl_state.recount()
returns void
language sql
set search_path = '' set plan_cache_mode = force_custom_plan
set enable_seqscan = off
as $$
  update opsctl_state.totals
  set (message_queued, issue_queued, queued_bytes) = (
        select count(*) filter (where o.kind = 'message'), count(*) filter (where o.kind = 'issue'),
               coalesce(sum(o.bytes), 0)
        from opsctl_state.outbox as o where o.state = 'queued'),
      (message_dead, issue_dead) = (
        select count(*) filter (where o.kind = 'message'), count(*) filter (where o.kind = 'issue')
        from opsctl_state.outbox as o where o.state = 'dead')
$$;

-- Null for p_rows means all of them. An issue takes its claim again, and stays dead while another has it.
create function opsctl_state.retry_dead(p_rows json, p_issue_ttl_ms bigint)
returns bigint
language plpgsql
set search_path = '' set plan_cache_mode = force_custom_plan
set enable_seqscan = off set lock_timeout = '3s'
as $$
declare
  v_now   bigint;
  v_count bigint := 0;
  v_row   record;
begin
  perform from opsctl_state.totals for update;
  v_now := opsctl_state.now_ms();
  for v_row in
    select o.id, o.kind, o.issue_key, o.claim_token, o.claimed_at from opsctl_state.outbox as o
    where o.state = 'dead'
      and (p_rows is null or o.id in (select r.value::bigint from json_array_elements_text(p_rows) as r(value)))
    order by o.id
  loop
    if v_row.kind = 'issue' then
      insert into opsctl_state.dedup as d (key, token, claimed_at, ttl_ms, expires_at)
      values (v_row.issue_key, v_row.claim_token, v_row.claimed_at, p_issue_ttl_ms, v_now + p_issue_ttl_ms)
      on conflict (key) do update
        set token = excluded.token, claimed_at = excluded.claimed_at, ttl_ms = excluded.ttl_ms,
            expires_at = excluded.expires_at, value = null
        where d.expires_at <= v_now;
      continue when not found;
    end if;
    update opsctl_state.outbox as o
    set state = 'queued', attempts = 0, waits_from = v_now, due_at = v_now, age_from = v_now, settled_at = null,
        code = null
    where o.id = v_row.id;
    perform opsctl_state.promote(v_row.kind, v_row.issue_key);
    v_count := v_count + 1;
  end loop;
  perform opsctl_state.recount();
  return v_count;
end $$;

create function opsctl_state.drop_dead(p_rows json)
returns bigint
language plpgsql
set search_path = '' set plan_cache_mode = force_custom_plan
set enable_seqscan = off set lock_timeout = '3s'
as $$
declare
  v_count bigint;
begin
  perform from opsctl_state.totals for update;
  delete from opsctl_state.outbox as o
  where o.state = 'dead'
    and (p_rows is null or o.id in (select r.value::bigint from json_array_elements_text(p_rows) as r(value)));
  get diagnostics v_count = row_count;
  perform opsctl_state.recount();
  return v_count;
end $$;

-- Removes delivered rows and remembered batches, a share of them at a time; answers whether there are more.
create function opsctl_state.prune_outbox(p_keep_delivered_ms bigint, p_keep_batches_ms bigint, p_share bigint)
returns boolean
language plpgsql
set search_path = '' set plan_cache_mode = force_custom_plan
set enable_seqscan = off
as $$
declare
  v_now  constant bigint := opsctl_state.now_ms();
  v_rows bigint;
begin
  delete from opsctl_state.batches as b where b.settled_at <= v_now - p_keep_batches_ms;
  delete from opsctl_state.outbox as o
  where o.id in (
    select d.id from opsctl_state.outbox as d
    where d.state = 'delivered' and d.settled_at <= v_now - p_keep_delivered_ms
    order by d.settled_at limit p_share);
  get diagnostics v_rows = row_count;
  return v_rows = p_share;
end $$;

-- Whether the holder delivers, for p_lease_ms from now.
create function opsctl_state.lead(p_holder uuid, p_lease_ms bigint)
returns boolean
language plpgsql
set search_path = '' set plan_cache_mode = force_custom_plan
set enable_seqscan = off set lock_timeout = '3s'
as $$
declare
  v_now    constant bigint := opsctl_state.now_ms();
  v_holder uuid;
begin
  insert into opsctl_state.lease as l (name, holder, expires_at)
  values ('dispatcher', p_holder, v_now + p_lease_ms)
  on conflict (name) do update
    set holder = case when l.expires_at <= v_now then excluded.holder else l.holder end,
        -- Another's lease ends no later than a whole one from now, also when the clock was set back.
        expires_at = case when l.holder = p_holder or l.expires_at <= v_now then excluded.expires_at
                          else least(l.expires_at, excluded.expires_at) end
    where l.holder = p_holder or l.expires_at <= v_now or l.expires_at > excluded.expires_at
  returning l.holder into v_holder;
  return coalesce(v_holder = p_holder, false);
end $$;

-- How much there is of each kind, and how old the oldest of what waits.
create function opsctl_state.stats()
returns table (message_queued bigint, message_dead bigint, message_age_ms bigint,
               issue_queued bigint, issue_dead bigint, issue_age_ms bigint, queued_bytes bigint)
language plpgsql rows 1
set search_path = '' set plan_cache_mode = force_custom_plan
set enable_seqscan = off set enable_sort = off
as $$
#variable_conflict use_column
declare
  v_now constant bigint := opsctl_state.now_ms();
begin
  return query
    select t.message_queued, t.message_dead,
           (select greatest(0, v_now - o.age_from) from opsctl_state.outbox as o
            where o.kind = 'message' and o.state = 'queued' order by o.age_from limit 1),
           t.issue_queued, t.issue_dead,
           (select greatest(0, v_now - o.age_from) from opsctl_state.outbox as o
            where o.kind = 'issue' and o.state = 'queued' order by o.age_from limit 1),
           t.queued_bytes
    from opsctl_state.totals as t;
end $$;

-- What became of the newest row of each kind.
create function opsctl_state.latest(p_key text)
returns table (kind text, state text, attempts integer, code text, reference text, url text)
language plpgsql rows 2
set search_path = '' set plan_cache_mode = force_custom_plan
set enable_seqscan = off set enable_sort = off
as $$
#variable_conflict use_column
begin
  return query
    select newest.kind, newest.state, newest.attempts, newest.code, newest.reference, newest.url
    from (values ('message'), ('issue')) as k(kind)
    cross join lateral (
      select o.* from opsctl_state.outbox as o
      where o.issue_key = p_key and o.kind = k.kind order by o.id desc limit 1) as newest;
end $$;
