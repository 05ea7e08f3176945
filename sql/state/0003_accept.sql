-- Accepting: one call for all requests that wait together, each of them all or nothing.

-- Adds a row, as the head of its kind and fingerprint when there is none. Asked by way of a conflict, since a plan for
-- the question, made while the outbox was empty, reads all heads later.
create function opsctl_state.add_row(p_row opsctl_state.outbox)
returns bigint
language plpgsql
as $$
declare
  v_id      bigint;
  v_is_head boolean;
begin
  foreach v_is_head in array array[true, false]
  loop
    insert into opsctl_state.outbox
      (kind, is_head, priority, issue_key, fingerprint, squad, alertname, alert, bytes,
       accepted_at, age_from, waits_from, due_at, message_row, claim_token, claimed_at)
    values
      (p_row.kind, v_is_head, p_row.priority, p_row.issue_key, p_row.fingerprint, p_row.squad, p_row.alertname,
       p_row.alert, p_row.bytes, p_row.accepted_at, p_row.accepted_at, p_row.accepted_at, p_row.accepted_at,
       p_row.message_row, p_row.claim_token, p_row.claimed_at)
    on conflict (kind, issue_key) where is_head do nothing
    returning id into v_id;
    exit when found;
  end loop;
  return v_id;
end $$;

-- Puts one alert into the outbox, its issue too when the dedup has not seen it; answers what became of both. Like the
-- function above it runs with the settings of accept: each of its own would cost as much as the row.
create function opsctl_state.accept_alert(p_alert json, p_issue_ttl_ms bigint, p_now bigint)
returns json
language plpgsql
as $$
declare
  v_row     opsctl_state.outbox := json_populate_record(null::opsctl_state.outbox, p_alert);
  v_message bigint;
  v_issue   bigint;
  v_claim   record;
begin
  v_row.kind := 'message';
  v_row.accepted_at := p_now;
  v_message := opsctl_state.add_row(v_row);
  if not (p_alert ->> 'firing')::boolean then
    return json_build_object('message', v_message, 'outcome', 'not_firing');
  end if;

  select * into strict v_claim from opsctl_state.claim(v_row.issue_key, p_issue_ttl_ms, p_now);
  if v_claim.outcome = 'first' then
    v_row.kind := 'issue';
    v_row.message_row := v_message;
    v_row.claim_token := v_claim.token;
    v_row.claimed_at := v_claim.claimed_at;
    v_issue := opsctl_state.add_row(v_row);
  end if;
  return json_build_object(
    'message', v_message, 'outcome', v_claim.outcome, 'issue', v_issue,
    'claimedAtMs', v_claim.claimed_at, 'url', v_claim.value);
end $$;

create function opsctl_state.accept(
  p_batch uuid, p_requests json, p_max_rows bigint, p_max_bytes bigint, p_issue_ttl_ms bigint)
returns text
language plpgsql
-- A lock that nobody gives back must not keep a connection for ever.
set search_path = '' set enable_seqscan = off set lock_timeout = '3s'
as $$
declare
  v_totals   opsctl_state.totals;
  v_now      bigint;
  v_request  json;
  v_alert    json;
  v_one      json;
  v_accepted json[];
  v_outcomes json[] := '{}';
  v_known    text;
  v_messages bigint;
  v_issues   bigint;
  v_bytes    bigint;
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
      v_accepted := '{}';
      v_messages := v_totals.message_queued;
      v_issues := v_totals.issue_queued;
      v_bytes := v_totals.queued_bytes;
      for v_alert in select a.value from json_array_elements(v_request) with ordinality as a(value, at) order by a.at
      loop
        v_one := opsctl_state.accept_alert(v_alert, p_issue_ttl_ms, v_now);
        v_accepted := v_accepted || v_one;
        v_messages := v_messages + 1;
        v_issues := v_issues + (v_one ->> 'issue' is not null)::int;
        v_bytes := v_bytes
          + (v_alert ->> 'bytes')::bigint * (case when v_one ->> 'issue' is null then 1 else 2 end);
        if v_messages + v_issues > p_max_rows or v_bytes > p_max_bytes then
          raise exception using errcode = 'OW090', message = 'outbox_full';
        end if;
      end loop;
      v_totals.message_queued := v_messages;
      v_totals.issue_queued := v_issues;
      v_totals.queued_bytes := v_bytes;
      v_outcomes := v_outcomes || json_build_object('accepted', to_json(v_accepted));
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
      queued_bytes = v_totals.queued_bytes;
  insert into opsctl_state.batches (id, outcomes, settled_at) values (p_batch, to_json(v_outcomes)::text, v_now);
  return to_json(v_outcomes)::text;
end $$;

-- Does what accepting does and takes it back: fails when nothing could be accepted now.
create function opsctl_state.check_writable()
returns void
language plpgsql
set search_path = '' set enable_seqscan = off set lock_timeout = '3s'
as $$
begin
  perform from opsctl_state.totals for update;
  insert into opsctl_state.batches (id, outcomes, settled_at) values (gen_random_uuid(), '', 0);
  raise exception using errcode = 'OW091', message = 'taken_back';
exception when sqlstate 'OW091' then
  return;
end $$;
