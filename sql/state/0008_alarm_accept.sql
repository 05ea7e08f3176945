-- Accepting, with the last tenth for critical alerts, repeats known as such, comments on issues, and hours counted.

-- The dedup as before, but rows are found by their key alone and judged afterwards: asked for by their time, too, the index
-- of times will do, as far as statistics know.
create or replace function opsctl_state.claim(
  p_key text, p_ttl_ms bigint, p_now bigint default opsctl_state.now_ms())
returns table (outcome text, token uuid, claimed_at bigint, value text)
language plpgsql rows 1
set search_path = pg_catalog, pg_temp set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  v_row opsctl_state.dedup;
begin
  loop
    insert into opsctl_state.dedup as d (key, token, claimed_at, ttl_ms, expires_at)
    values (p_key, gen_random_uuid(), p_now, p_ttl_ms, p_now + p_ttl_ms)
    on conflict (key) do update
      set token = excluded.token, claimed_at = excluded.claimed_at, ttl_ms = excluded.ttl_ms,
          expires_at = excluded.expires_at, value = null
      where d.expires_at <= p_now
    returning d.* into v_row;
    if found then
      return query select 'first', v_row.token, v_row.claimed_at, null::text;
      return;
    end if;
    select d.* into v_row from opsctl_state.dedup as d where d.key = p_key;
    if found then
      if v_row.expires_at > p_now + v_row.ttl_ms then
        -- An end further away than its whole time: the clock was set back.
        update opsctl_state.dedup as d set expires_at = least(d.expires_at, p_now + d.ttl_ms) where d.key = p_key;
      end if;
      return query select 'duplicate', null::uuid, v_row.claimed_at, v_row.value;
      return;
    end if;
    -- Released between the two statements: it is free again.
  end loop;
end $$;

create or replace function opsctl_state.confirm(
  p_key text, p_token text, p_ttl_ms bigint, p_value text, p_now bigint default opsctl_state.now_ms())
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp set enable_seqscan = off
as $$
declare
  v_row opsctl_state.dedup;
begin
  select d.* into v_row from opsctl_state.dedup as d where d.key = p_key for update;
  if not found or v_row.token::text <> p_token or v_row.expires_at <= p_now then
    return false;
  end if;
  update opsctl_state.dedup as d
  set ttl_ms = coalesce(p_ttl_ms, d.ttl_ms), expires_at = coalesce(p_now + p_ttl_ms, d.expires_at),
      value = coalesce(p_value, d.value)
  where d.key = p_key;
  return true;
end $$;

create or replace function opsctl_state.release(
  p_key text, p_token text, p_now bigint default opsctl_state.now_ms())
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp set enable_seqscan = off
as $$
declare
  v_row opsctl_state.dedup;
begin
  select d.* into v_row from opsctl_state.dedup as d where d.key = p_key for update;
  if not found or v_row.token::text <> p_token or v_row.expires_at <= p_now then
    return false;
  end if;
  delete from opsctl_state.dedup as d where d.key = p_key;
  return true;
end $$;

-- Adds a row, as the head of its kind and fingerprint when none waits; the caller holds the lock of the totals.
create or replace function opsctl_state.add_row(p_row opsctl_state.outbox)
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_id bigint;
begin
  perform from opsctl_state.outbox as o
  where o.kind = p_row.kind and o.issue_key = p_row.issue_key and o.state = 'queued'
  order by o.id + 0 limit 1;
  insert into opsctl_state.outbox
    (kind, is_head, priority, issue_key, fingerprint, squad, alertname, alert, bytes,
     accepted_at, age_from, waits_from, due_at, message_row, claim_token, claimed_at,
     issue_row, is_blocked, is_repeat, is_urgent, shown)
  values
    (p_row.kind, not found, p_row.priority, p_row.issue_key, p_row.fingerprint, p_row.squad, p_row.alertname,
     p_row.alert, p_row.bytes, p_row.accepted_at, p_row.accepted_at, p_row.accepted_at, p_row.accepted_at,
     p_row.message_row, p_row.claim_token, p_row.claimed_at,
     p_row.issue_row, coalesce(p_row.is_blocked, false), coalesce(p_row.is_repeat, false),
     -- A host of before says nothing of it.
     p_row.kind = 'message' and coalesce(p_row.is_urgent, p_row.priority = 0),
     case when p_row.kind = 'message' then p_row.shown end)
  returning id into v_id;
  return v_id;
end $$;

-- Adds the comment that says that the alert has ended, on the fingerprint's newest issue; null when that was given up,
-- is in doubt, or is gone.
create function opsctl_state.add_comment(p_row opsctl_state.outbox, p_episode opsctl_state.episodes)
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_row   opsctl_state.outbox := p_row;
  v_state text := (select o.state from opsctl_state.outbox as o where o.id = p_episode.issue_row);
begin
  if v_state is null or v_state not in ('queued', 'delivered') then
    return null;
  end if;
  v_row.kind := 'comment';
  v_row.issue_row := p_episode.issue_row;
  v_row.claimed_at := p_episode.claimed_at;
  v_row.is_blocked := v_state = 'queued';
  return opsctl_state.add_row(v_row);
end $$;

-- Remembers what was accepted of a fingerprint, and its issue when it has a new one.
create function opsctl_state.remember_episode(
  p_key text, p_starts_at text, p_is_firing boolean, p_issue bigint, p_claimed_at bigint, p_now bigint)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_day_ends constant bigint := (p_now / 86400000 + 1) * 86400000;
begin
  update opsctl_state.episodes as e
  set starts_at = p_starts_at, is_firing = p_is_firing, seen_at = v_day_ends,
      issue_row = coalesce(p_issue, e.issue_row), claimed_at = coalesce(p_claimed_at, e.claimed_at)
  where e.issue_key = p_key;
  if not found then
    insert into opsctl_state.episodes (issue_key, starts_at, is_firing, issue_row, claimed_at, seen_at)
    values (p_key, p_starts_at, p_is_firing, p_issue, p_claimed_at, v_day_ends);
  end if;
end $$;

-- Claims the issue of an alert that fires, as opsctl_state.claim does, which is not called where a claim is seen to hold.
-- p_tried_at: when it was claimed and tried without the state, so that the tracker may have it under that time.
create function opsctl_state.claim_issue(p_key text, p_ttl_ms bigint, p_now bigint, p_tried_at bigint)
returns opsctl_state.dedup
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_claim opsctl_state.dedup;
begin
  select d.* into v_claim from opsctl_state.dedup as d where d.key = p_key;
  if v_claim.expires_at > p_now and v_claim.expires_at <= p_now + v_claim.ttl_ms then
    v_claim.token := null;
  else
    select c.token, c.claimed_at, c.value into strict v_claim.token, v_claim.claimed_at, v_claim.value
    from opsctl_state.claim(p_key, p_ttl_ms, p_now) as c;
    if v_claim.token is not null and p_tried_at is not null then
      update opsctl_state.dedup as d set claimed_at = p_tried_at where d.key = p_key;
      v_claim.claimed_at := p_tried_at;
    end if;
  end if;
  return v_claim;
end $$;

-- Puts an alert that fires into the outbox, with its issue when the dedup has not seen it. Returns what became of it, and
-- how many rows came with it. Runs with the settings of accept.
create function opsctl_state.accept_firing(
  p_row opsctl_state.outbox, p_starts_at text, p_known opsctl_state.episodes, p_issue_ttl_ms bigint,
  p_tried_at bigint,
  out answer json, out issues bigint, out comments bigint)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_row     opsctl_state.outbox := p_row;
  v_message bigint;
  v_issue   bigint;
  v_claim   opsctl_state.dedup :=
    opsctl_state.claim_issue(p_row.issue_key, p_issue_ttl_ms, p_row.accepted_at, p_tried_at);
begin
  v_row.is_repeat := coalesce(p_known.is_firing and p_known.starts_at = p_starts_at, false);
  v_message := opsctl_state.add_row(v_row);
  if v_claim.token is not null then
    v_row.kind := 'issue';
    v_row.message_row := v_message;
    v_row.claim_token := v_claim.token;
    v_row.claimed_at := v_claim.claimed_at;
    v_issue := opsctl_state.add_row(v_row);
  end if;
  -- Nothing is written as long as nothing changes within the day.
  if v_issue is not null or p_known.is_firing is not true or p_known.starts_at is distinct from p_starts_at
     or p_known.seen_at - v_row.accepted_at not between 1 and 86400000 then
    perform opsctl_state.remember_episode(
      v_row.issue_key, p_starts_at, true, v_issue, v_row.claimed_at, v_row.accepted_at);
  end if;
  answer := json_build_object(
    'message', v_message, 'outcome', case when v_issue is null then 'duplicate' else 'first' end, 'issue', v_issue,
    'isRepeat', v_row.is_repeat, 'claimedAtMs', v_claim.claimed_at, 'url', v_claim.value);
  issues := (v_issue is not null)::int;
  comments := 0;
end $$;

-- Puts another alert into the outbox, with the comment on its issue when it was firing before. Returns as the function above.
create function opsctl_state.accept_ended(
  p_row opsctl_state.outbox, p_known opsctl_state.episodes, p_adds_comment boolean,
  out answer json, out issues bigint, out comments bigint)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_message bigint := opsctl_state.add_row(p_row);
  v_comment bigint;
begin
  if p_known.is_firing then
    if p_adds_comment then
      v_comment := opsctl_state.add_comment(p_row, p_known);
    end if;
    perform opsctl_state.remember_episode(p_row.issue_key, null, false, null, null, p_row.accepted_at);
  end if;
  answer := json_build_object('message', v_message, 'outcome', 'not_firing');
  issues := 0;
  comments := (v_comment is not null)::int;
end $$;

drop function opsctl_state.accept_alert(json, bigint, bigint);

-- Puts a request into the outbox, and what there is more of into p_totals; raises OW090 when that is too much. One with a
-- critical alert may fill the outbox, others leave a tenth of it.
create function opsctl_state.accept_request(
  p_request json, p_max_rows bigint, p_max_bytes bigint, p_issue_ttl_ms bigint, p_now bigint, p_comments boolean,
  inout p_totals opsctl_state.totals, out accepted json[])
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_row       opsctl_state.outbox;
  v_firing    boolean;
  v_resolved  boolean;
  v_starts_at text;
  v_issue_tried_at bigint;
  v_tried     json;
  v_known     opsctl_state.episodes;
  v_one       record;
  v_rows      bigint;
  v_left      bigint := 1;
begin
  accepted := '{}';
  v_row.kind := 'message';
  v_row.accepted_at := p_now;
  for v_row.priority, v_row.issue_key, v_row.fingerprint, v_row.squad, v_row.alertname, v_row.alert, v_row.bytes,
      v_row.is_urgent, v_row.shown, v_firing, v_resolved, v_starts_at, v_issue_tried_at, v_tried
  in
    select a.* from json_to_recordset(p_request) as a(
      priority smallint, issue_key text, fingerprint text, squad text, alertname text, alert text, bytes bigint,
      is_urgent boolean, shown text, firing boolean, resolved boolean, starts_at text,
      issue_tried_at bigint, tried json)
  loop
    select e.* into v_known from opsctl_state.episodes as e where e.issue_key = v_row.issue_key;
    if v_firing then
      v_one := opsctl_state.accept_firing(v_row, v_starts_at, v_known, p_issue_ttl_ms, v_issue_tried_at);
    else
      v_one := opsctl_state.accept_ended(v_row, v_known, p_comments and v_resolved);
    end if;
    if v_tried is not null then
      perform opsctl_state.take_up((v_one.answer ->> 'message')::bigint, v_tried);
    end if;
    accepted := accepted || v_one.answer;
    v_left := case when v_row.priority = 0 then 0 else v_left end;
    p_totals.message_queued := p_totals.message_queued + 1;
    p_totals.waiting_messages := p_totals.waiting_messages + (v_row.priority > 0)::int;
    p_totals.issue_queued := p_totals.issue_queued + v_one.issues;
    p_totals.comment_queued := p_totals.comment_queued + v_one.comments;
    p_totals.queued_bytes := p_totals.queued_bytes + (1 + v_one.issues + v_one.comments) * v_row.bytes;
    v_rows := p_totals.message_queued + p_totals.issue_queued + p_totals.comment_queued;
    exit when v_rows > p_max_rows or p_totals.queued_bytes > p_max_bytes;
  end loop;
  -- v_rows is null for a request without alerts.
  if v_rows > p_max_rows - v_left * (p_max_rows / 10)
     or v_rows > 0 and p_totals.queued_bytes > p_max_bytes - v_left * (p_max_bytes / 10) then
    raise exception using errcode = 'OW090', message = 'outbox_full';
  end if;
end $$;

create function opsctl_state.accept(
  p_batch uuid, p_requests json, p_max_rows bigint, p_max_bytes bigint, p_issue_ttl_ms bigint, p_comments boolean)
returns text
language plpgsql
set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set lock_timeout = '3s'
as $$
declare
  v_totals   opsctl_state.totals;
  v_request  json;
  v_done     record;
  v_now      bigint;
  v_outcomes json[] := '{}';
  v_known    text;
  v_alerts   bigint := 0;
begin
  select * into strict v_totals from opsctl_state.totals for update;
  -- Asked again by a host that did not hear the answer: the first time counts.
  select b.outcomes into v_known from opsctl_state.batches as b where b.id = p_batch;
  if found then
    return v_known;
  end if;
  v_now := opsctl_state.now_ms();

  for v_request in select r.value from json_array_elements(p_requests) as r(value)
  loop
    begin
      select * into strict v_done
      from opsctl_state.accept_request(
        v_request, p_max_rows, p_max_bytes, p_issue_ttl_ms, v_now, p_comments, v_totals);
      v_totals := v_done.p_totals;
      v_alerts := v_alerts + cardinality(v_done.accepted);
      v_outcomes := v_outcomes || json_build_object('accepted', to_json(v_done.accepted));
    exception
      when sqlstate 'OW090' then
        v_outcomes := v_outcomes || json_build_object('refused', 'outbox_full');
      -- These concern the whole batch, which is tried again or refused as one.
      when serialization_failure or deadlock_detected or lock_not_available then
        raise;
      when others then
        v_outcomes := v_outcomes || json_build_object('refused', 'state_unavailable', 'sqlState', sqlstate);
    end;
  end loop;

  update opsctl_state.totals
  set message_queued = v_totals.message_queued, issue_queued = v_totals.issue_queued,
      comment_queued = v_totals.comment_queued, waiting_messages = v_totals.waiting_messages,
      queued_bytes = v_totals.queued_bytes;
  if v_alerts > 0 then
    update opsctl_state.hours as h set alerts = h.alerts + v_alerts where h.hour = v_now / 3600000;
    if not found then
      insert into opsctl_state.hours (hour, alerts) values (v_now / 3600000, v_alerts);
    end if;
  end if;
  insert into opsctl_state.batches (id, outcomes, settled_at) values (p_batch, to_json(v_outcomes)::text, v_now);
  return to_json(v_outcomes)::text;
end $$;

-- As hosts of before call it.
create or replace function opsctl_state.accept(
  p_batch uuid, p_requests json, p_max_rows bigint, p_max_bytes bigint, p_issue_ttl_ms bigint)
returns text
language sql
set search_path = pg_catalog, pg_temp
as $$ select opsctl_state.accept(p_batch, p_requests, p_max_rows, p_max_bytes, p_issue_ttl_ms, false) $$;
