-- Accepting: one call for all requests that wait together, each of them all or nothing.

-- Puts one alert into the outbox, its issue too when the dedup has not seen it; answers what became of both.
create function opsctl_state.accept_alert(p_alert json, p_issue_ttl_ms bigint, p_now bigint)
returns json
language plpgsql
set search_path = '' set enable_seqscan = off
as $$
declare
  v_key     constant text := p_alert ->> 'issueKey';
  v_message bigint;
  v_issue   bigint;
  v_claim   record;
begin
  insert into opsctl_state.outbox
    (kind, is_head, priority, issue_key, fingerprint, squad, alertname, alert, bytes,
     accepted_at, age_from, waits_from, due_at)
  select 'message', not exists (
           select from opsctl_state.outbox as o where o.kind = 'message' and o.issue_key = v_key and o.is_head),
         a.priority, v_key, a.fingerprint, a.squad, a.alertname, a.alert, a.bytes, p_now, p_now, p_now, p_now
  from json_to_record(p_alert)
    as a(priority smallint, fingerprint text, squad text, alertname text, alert text, bytes bigint)
  returning id into v_message;
  if not (p_alert ->> 'firing')::boolean then
    return json_build_object('message', v_message, 'outcome', 'not_firing');
  end if;

  select * into strict v_claim from opsctl_state.claim(v_key, p_issue_ttl_ms, p_now);
  if v_claim.outcome = 'first' then
    insert into opsctl_state.outbox
      (kind, is_head, priority, issue_key, fingerprint, squad, alertname, alert, bytes,
       accepted_at, age_from, waits_from, due_at, message_row, claim_token, claimed_at)
    select 'issue', not exists (
             select from opsctl_state.outbox as o where o.kind = 'issue' and o.issue_key = v_key and o.is_head),
           m.priority, v_key, m.fingerprint, m.squad, m.alertname, m.alert, m.bytes, p_now, p_now, p_now, p_now,
           m.id, v_claim.token, v_claim.claimed_at
    from opsctl_state.outbox as m where m.id = v_message
    returning id into v_issue;
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
