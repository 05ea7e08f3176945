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

create or replace function opsctl_state.add_row(p_row opsctl_state.outbox)
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_id      bigint;
  v_is_head boolean;
begin
  foreach v_is_head in array array[true, false]
  loop
    insert into opsctl_state.outbox
      (kind, is_head, priority, issue_key, fingerprint, squad, alertname, alert, bytes,
       accepted_at, age_from, waits_from, due_at, message_row, claim_token, claimed_at,
       issue_row, is_blocked, is_repeat, is_urgent, shown)
    values
      (p_row.kind, v_is_head, p_row.priority, p_row.issue_key, p_row.fingerprint, p_row.squad, p_row.alertname,
       p_row.alert, p_row.bytes, p_row.accepted_at, p_row.accepted_at, p_row.accepted_at, p_row.accepted_at,
       p_row.message_row, p_row.claim_token, p_row.claimed_at,
       p_row.issue_row, coalesce(p_row.is_blocked, false), coalesce(p_row.is_repeat, false),
       -- A host of before says nothing of it.
       p_row.kind = 'message' and coalesce(p_row.is_urgent, p_row.priority = 0),
       case when p_row.kind = 'message' then p_row.shown end)
    on conflict (kind, issue_key) where is_head do nothing
    returning id into v_id;
    exit when found;
  end loop;
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

-- Remembers what was accepted of a fingerprint; writes nothing as long as nothing changes within a day.
create function opsctl_state.remember(
  p_known opsctl_state.episodes, p_key text, p_starts_at text, p_is_firing boolean, p_issue bigint, p_claimed_at bigint,
  p_now bigint)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_issue is null and p_known.is_firing is not distinct from p_is_firing
     and (not p_is_firing or p_known.starts_at is not distinct from p_starts_at)
     and p_now - p_known.seen_at between 0 and 86400000 then
    return;
  end if;
  insert into opsctl_state.episodes as e (issue_key, starts_at, is_firing, issue_row, claimed_at, seen_at)
  values (p_key, p_starts_at, p_is_firing, p_issue, p_claimed_at, p_now)
  on conflict (issue_key) do update
    set starts_at = excluded.starts_at, is_firing = excluded.is_firing, seen_at = excluded.seen_at,
        issue_row = coalesce(excluded.issue_row, e.issue_row), claimed_at = coalesce(excluded.claimed_at, e.claimed_at);
end $$;

-- Puts one alert into the outbox, with its issue when the dedup has not seen it, or the comment on its issue when it has
-- ended. Returns what became of it. Runs with the settings of accept.
create function opsctl_state.accept_one(p_alert json, p_issue_ttl_ms bigint, p_now bigint, p_comments boolean)
returns json
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_row       opsctl_state.outbox := json_populate_record(null::opsctl_state.outbox, p_alert);
  v_is_firing constant boolean := (p_alert ->> 'firing')::boolean;
  v_starts_at constant text := p_alert ->> 'starts_at';
  v_known     opsctl_state.episodes;
  v_message   bigint;
  v_issue     bigint;
  v_comment   bigint;
  v_claim     record;
begin
  select e.* into v_known from opsctl_state.episodes as e where e.issue_key = v_row.issue_key;
  v_row.kind := 'message';
  v_row.accepted_at := p_now;
  v_row.is_repeat := coalesce(v_is_firing and v_known.is_firing and v_known.starts_at = v_starts_at, false);
  v_message := opsctl_state.add_row(v_row);
  if not v_is_firing then
    if v_known.is_firing then
      if p_comments and (p_alert ->> 'resolved')::boolean then
        v_comment := opsctl_state.add_comment(v_row, v_known);
      end if;
      perform opsctl_state.remember(v_known, v_row.issue_key, null, false, null, null, p_now);
    end if;
    return json_build_object('message', v_message, 'outcome', 'not_firing', 'comment', v_comment);
  end if;

  select * into strict v_claim from opsctl_state.claim(v_row.issue_key, p_issue_ttl_ms, p_now);
  if v_claim.outcome = 'first' then
    v_row.kind := 'issue';
    v_row.message_row := v_message;
    v_row.claim_token := v_claim.token;
    v_row.claimed_at := v_claim.claimed_at;
    v_issue := opsctl_state.add_row(v_row);
  end if;
  perform opsctl_state.remember(
    v_known, v_row.issue_key, v_starts_at, true, v_issue, v_row.claimed_at, p_now);
  return json_build_object(
    'message', v_message, 'outcome', v_claim.outcome, 'issue', v_issue, 'repeat', v_row.is_repeat,
    'claimedAtMs', v_claim.claimed_at, 'url', v_claim.value);
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
  v_alert    json;
  v_one      json;
  v_copies   integer;
  v_is_first boolean := exists (
    select from json_array_elements(p_request) as a(value) where (a.value ->> 'priority')::int = 0);
  v_rows     constant bigint := case when v_is_first then p_max_rows else p_max_rows - p_max_rows / 10 end;
  v_bytes    constant bigint := case when v_is_first then p_max_bytes else p_max_bytes - p_max_bytes / 10 end;
begin
  accepted := '{}';
  for v_alert in select a.value from json_array_elements(p_request) with ordinality as a(value, at) order by a.at
  loop
    v_one := opsctl_state.accept_one(v_alert, p_issue_ttl_ms, p_now, p_comments);
    accepted := accepted || v_one;
    v_copies := 1 + (v_one ->> 'issue' is not null)::int + (v_one ->> 'comment' is not null)::int;
    p_totals.message_queued := p_totals.message_queued + 1;
    p_totals.message_plain := p_totals.message_plain + ((v_alert ->> 'priority')::int > 0)::int;
    p_totals.issue_queued := p_totals.issue_queued + (v_one ->> 'issue' is not null)::int;
    p_totals.comment_queued := p_totals.comment_queued + (v_one ->> 'comment' is not null)::int;
    p_totals.queued_bytes := p_totals.queued_bytes + v_copies * (v_alert ->> 'bytes')::bigint;
    if p_totals.message_queued + p_totals.issue_queued + p_totals.comment_queued > v_rows
       or p_totals.queued_bytes > v_bytes then
      raise exception using errcode = 'OW090', message = 'outbox_full';
    end if;
  end loop;
end $$;

create function opsctl_state.accept(
  p_batch uuid, p_requests json, p_max_rows bigint, p_max_bytes bigint, p_issue_ttl_ms bigint, p_comments boolean)
returns text
language plpgsql
set search_path = pg_catalog, pg_temp set enable_seqscan = off set lock_timeout = '3s'
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

  for v_request in select r.value from json_array_elements(p_requests) with ordinality as r(value, at) order by r.at
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
      comment_queued = v_totals.comment_queued, message_plain = v_totals.message_plain,
      queued_bytes = v_totals.queued_bytes;
  if v_alerts > 0 then
    insert into opsctl_state.hours as h (hour, alerts) values (v_now / 3600000, v_alerts)
    on conflict (hour) do update set alerts = h.alerts + excluded.alerts;
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
