-- One report per tenant owner, closed week and payload version: eligibility, claim, persistence.

create table if not exists public.weekly_performance_reports (
  id               uuid primary key default gen_random_uuid(),
  tenant_id        uuid not null references public.tenants (id),
  user_id          uuid not null references public.users (id),
  window_start     timestamptz not null,
  window_end       timestamptz not null,
  schema_version   integer not null,
  status           text not null,
  claim_token      uuid,
  lease_expires_at timestamptz,
  attempts         integer not null default 1,
  fingerprint      text,
  evidence         text,
  payload          jsonb,
  coverage_status  text,
  error_code       text,
  created_at       timestamptz not null default now(),
  updated_at       timestamptz not null default now(),
  completed_at     timestamptz,

  constraint weekly_performance_reports_key
    unique (tenant_id, user_id, window_start, window_end, schema_version),
  -- What a delivery refers to, so that it can never belong to another tenant or user than its report.
  constraint weekly_performance_reports_identity unique (id, tenant_id, user_id),
  constraint weekly_performance_reports_status check (status in ('running', 'completed', 'failed')),
  constraint weekly_performance_reports_window check (window_start < window_end),
  constraint weekly_performance_reports_version check (schema_version >= 1),
  constraint weekly_performance_reports_attempts check (attempts >= 1),
  constraint weekly_performance_reports_fingerprint check (fingerprint ~ '^[0-9a-f]{64}$'),
  constraint weekly_performance_reports_coverage check (coverage_status in ('complete', 'partial')),
  -- A code, never a message of a peer: messages can repeat addresses and numbers.
  constraint weekly_performance_reports_error_code check (error_code ~ '^[A-Za-z0-9_.:-]{1,64}$'),
  constraint weekly_performance_reports_completed check (
    (status = 'completed') = (payload is not null)
    and (status = 'completed') = (fingerprint is not null)
    and (status = 'completed') = (evidence is not null)
    and (status = 'completed') = (coverage_status is not null)
    and (status = 'completed') = (completed_at is not null)),
  constraint weekly_performance_reports_running check (
    status <> 'running' or (claim_token is not null and lease_expires_at is not null)),
  constraint weekly_performance_reports_no_error check (status = 'failed' or error_code is null)
);

comment on table public.weekly_performance_reports is
  'One weekly performance report per tenant, user, closed week and payload version. Written through functions only.';

create index if not exists weekly_performance_reports_window_status
  on public.weekly_performance_reports (window_start, status);

-- What a signed-in user's page asks for: the policy below lets nobody see another user's rows.
create index if not exists weekly_performance_reports_user
  on public.weekly_performance_reports (user_id, window_start);

-- A completed report is what was sent: it never changes again.
create or replace function public.weekly_performance_reports_guard()
returns trigger
language plpgsql
set search_path = ''
as $$
begin
  if old.status = 'completed' then
    raise exception using errcode = 'OW012', message = 'report_completed_is_immutable';
  end if;
  if (old.id, old.tenant_id, old.user_id, old.window_start, old.window_end, old.schema_version)
     is distinct from
     (new.id, new.tenant_id, new.user_id, new.window_start, new.window_end, new.schema_version) then
    raise exception using errcode = 'OW012', message = 'report_identity_is_immutable';
  end if;
  return new;
end $$;

create or replace trigger weekly_performance_reports_guard
  before update on public.weekly_performance_reports
  for each row execute function public.weekly_performance_reports_guard();

alter table public.weekly_performance_reports enable row level security;

drop policy if exists weekly_performance_reports_owner_reads on public.weekly_performance_reports;
create policy weekly_performance_reports_owner_reads on public.weekly_performance_reports
  for select to authenticated
  -- As a subquery it is asked once per statement instead of once per row.
  using (status = 'completed' and user_id = (select auth.uid()));

-- For a login that is a member of service_role: membership does not inherit its bypassrls attribute.
drop policy if exists weekly_performance_reports_service_reads on public.weekly_performance_reports;
create policy weekly_performance_reports_service_reads on public.weekly_performance_reports
  for select to service_role
  using (true);

create or replace function public.list_weekly_performance_report_scopes(p_tenant_id uuid default null)
returns table (tenant_id uuid, user_id uuid)
language plpgsql stable security definer
set search_path = ''
-- Planned anew with the tenant's value: a generic plan would read every tenant to answer for one.
set plan_cache_mode = force_custom_plan
as $$
begin
  return query
    select t.id, u.id
    from public.tenants as t
    join public.credit_wallets as w on w.tenant_id = t.id and w.status in ('active', 'grace')
    join public.users as u on u.tenant_id = t.id and u.role = 'owner'
    where t.archived_at is null
      and (p_tenant_id is null or t.id = p_tenant_id)
    order by t.id, u.id;
end $$;

comment on function public.list_weekly_performance_report_scopes(uuid) is
  'Every tenant owner who gets a weekly report: tenant not archived, wallet active or in grace. The one place of that rule.';

-- Here and below rows are found by key. A session plans once, in the first week on an empty table, where reading all
-- of it looks cheapest: without that choice (enable_seqscan) the plan is right for the ten thousandth row too.
create or replace function public.claim_weekly_performance_report(
  p_tenant_id uuid, p_user_id uuid, p_window_start timestamptz, p_window_end timestamptz, p_schema_version integer)
returns table (report_id uuid, outcome text, claim_token uuid, lease_expires_at timestamptz)
-- One row, and the planner has to know: with its guess of a thousand a caller's join reads every report.
language plpgsql security definer rows 1
set search_path = '' set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  v_now   constant timestamptz := public.weekly_performance_require_report_day();
  v_token constant uuid := gen_random_uuid();
  v_lease constant timestamptz := v_now + interval '20 minutes';
  v_row   public.weekly_performance_reports;
begin
  perform public.weekly_performance_require_last_window(v_now, p_window_start, p_window_end);

  select r.* into v_row from public.weekly_performance_reports as r
  where r.tenant_id = p_tenant_id and r.user_id = p_user_id
    and r.window_start = p_window_start and r.window_end = p_window_end
    and r.schema_version = p_schema_version
  for update;

  if v_row.status = 'completed' then
    return query select v_row.id, 'completed', null::uuid, null::timestamptz;
    return;
  end if;
  if v_row.status = 'running' and v_row.lease_expires_at > v_now then
    return query select v_row.id, 'busy', null::uuid, v_row.lease_expires_at;
    return;
  end if;
  if not exists (
    select from public.list_weekly_performance_report_scopes(p_tenant_id) as s
    where s.tenant_id = p_tenant_id and s.user_id = p_user_id
  ) then
    return query select v_row.id, 'ineligible', null::uuid, null::timestamptz;
    return;
  end if;

  if v_row.id is null then
    insert into public.weekly_performance_reports as r
      (tenant_id, user_id, window_start, window_end, schema_version, status, claim_token, lease_expires_at,
       created_at, updated_at)
    values
      (p_tenant_id, p_user_id, p_window_start, p_window_end, p_schema_version, 'running', v_token, v_lease,
       v_now, v_now)
    on conflict on constraint weekly_performance_reports_key do nothing
    returning r.* into v_row;
    if v_row.id is null then
      -- Another session created the row between our look and our insert: its fresh lease is valid.
      return query
        select c.* from public.claim_weekly_performance_report(
          p_tenant_id, p_user_id, p_window_start, p_window_end, p_schema_version) as c;
      return;
    end if;
    return query select v_row.id, 'claimed', v_token, v_lease;
    return;
  end if;

  update public.weekly_performance_reports as r
  set status = 'running', claim_token = v_token, lease_expires_at = v_lease, attempts = r.attempts + 1,
      error_code = null, updated_at = v_now
  where r.id = v_row.id;
  return query
    select v_row.id, case v_row.status when 'failed' then 'resumed' else 'taken_over' end, v_token, v_lease;
end $$;

comment on function public.claim_weekly_performance_report(uuid, uuid, timestamptz, timestamptz, integer) is
  'Creates or recovers the single row of the window for 20 minutes. A token is answered only with claimed, resumed, taken_over.';

create or replace function public.persist_weekly_performance_report(
  p_report_id uuid, p_claim_token uuid, p_tenant_id uuid, p_user_id uuid,
  p_window_start timestamptz, p_window_end timestamptz, p_schema_version integer,
  p_fingerprint text, p_evidence text, p_payload jsonb)
returns jsonb
language plpgsql security definer
set search_path = '' set enable_seqscan = off
as $$
declare
  v_now     timestamptz;
  v_row     public.weekly_performance_reports;
  v_matches boolean;
  v_offset  constant text := '(Z|[-+][0-9]{2}(:?[0-9]{2})?)$';
begin
  select r.* into v_row from public.weekly_performance_reports as r where r.id = p_report_id for update;
  if v_row.id is null then
    raise exception using errcode = 'OW003', message = 'report_not_found';
  end if;
  if v_row.claim_token is distinct from p_claim_token then
    raise exception using errcode = 'OW004', message = 'report_token_mismatch';
  end if;
  if v_row.tenant_id is distinct from p_tenant_id then
    raise exception using errcode = 'OW006', message = 'report_tenant_mismatch';
  end if;
  if v_row.user_id is distinct from p_user_id then
    raise exception using errcode = 'OW007', message = 'report_user_mismatch';
  end if;
  if (v_row.window_start, v_row.window_end) is distinct from (p_window_start, p_window_end) then
    raise exception using errcode = 'OW008', message = 'report_window_mismatch';
  end if;
  if v_row.schema_version is distinct from p_schema_version then
    raise exception using errcode = 'OW009', message = 'report_schema_version_mismatch';
  end if;

  -- The same call again, whose first answer was lost: what was asked for already holds.
  if v_row.status = 'completed' and v_row.fingerprint = p_fingerprint and v_row.evidence = p_evidence
     and v_row.payload = p_payload then
    return v_row.payload;
  end if;

  v_now := public.weekly_performance_require_report_day();
  if v_row.status <> 'running' then
    raise exception using errcode = 'OW012', message = 'report_not_running';
  end if;
  if v_row.lease_expires_at <= v_now then
    raise exception using errcode = 'OW005', message = 'report_lease_expired';
  end if;
  if p_fingerprint is distinct from encode(sha256(convert_to(p_evidence, 'UTF8')), 'hex') then
    raise exception using errcode = 'OW010', message = 'report_fingerprint_mismatch';
  end if;
  begin
    -- An instant without its offset would be read in the session's zone.
    v_matches := p_payload -> 'schemaVersion' = to_jsonb(p_schema_version)
      and p_payload ->> 'tenantId' = p_tenant_id::text
      and p_payload ->> 'userId' = p_user_id::text
      and p_payload ->> 'windowStart' ~ v_offset and p_payload ->> 'windowEnd' ~ v_offset
      and (p_payload ->> 'windowStart')::timestamptz = p_window_start
      and (p_payload ->> 'windowEnd')::timestamptz = p_window_end
      and coalesce(p_payload #>> '{provenance,fingerprint}', p_fingerprint) = p_fingerprint;
  exception when data_exception then
    v_matches := false;
  end;
  if v_matches is not true then
    raise exception using errcode = 'OW011', message = 'report_payload_mismatch';
  end if;

  update public.weekly_performance_reports as r
  set status = 'completed', fingerprint = p_fingerprint, evidence = p_evidence, payload = p_payload,
      coverage_status = p_payload ->> 'coverageStatus', completed_at = v_now, updated_at = v_now
  where r.id = p_report_id
  returning r.payload into v_row.payload;
  return v_row.payload;
end $$;

comment on function public.persist_weekly_performance_report(
  uuid, uuid, uuid, uuid, timestamptz, timestamptz, integer, text, text, jsonb) is
  'Completes the row after seven checks and answers the payload as stored. The fingerprint is recomputed over the evidence.';

create or replace function public.fail_weekly_performance_report(
  p_report_id uuid, p_claim_token uuid, p_error_code text)
returns void
language plpgsql security definer
set search_path = '' set enable_seqscan = off
as $$
declare
  v_row public.weekly_performance_reports;
begin
  select r.* into v_row from public.weekly_performance_reports as r where r.id = p_report_id for update;
  if v_row.id is null then
    raise exception using errcode = 'OW003', message = 'report_not_found';
  end if;
  if v_row.claim_token is distinct from p_claim_token then
    raise exception using errcode = 'OW004', message = 'report_token_mismatch';
  end if;
  if v_row.status = 'failed' and v_row.error_code is not distinct from p_error_code then
    return;
  end if;
  if v_row.status <> 'running' then
    raise exception using errcode = 'OW012', message = 'report_not_running';
  end if;
  update public.weekly_performance_reports as r
  set status = 'failed', error_code = p_error_code, updated_at = public.weekly_performance_now()
  where r.id = p_report_id;
end $$;

comment on function public.fail_weekly_performance_report(uuid, uuid, text) is
  'running to failed, for the holder of the token only; allowed after midnight, since it confirms what was begun.';

revoke all on table public.weekly_performance_reports from public, anon, authenticated, service_role;
grant select on table public.weekly_performance_reports to authenticated, service_role;

revoke all on function
  public.weekly_performance_reports_guard(),
  public.list_weekly_performance_report_scopes(uuid),
  public.claim_weekly_performance_report(uuid, uuid, timestamptz, timestamptz, integer),
  public.persist_weekly_performance_report(
    uuid, uuid, uuid, uuid, timestamptz, timestamptz, integer, text, text, jsonb),
  public.fail_weekly_performance_report(uuid, uuid, text)
from public, anon, authenticated, service_role;

grant execute on function
  public.list_weekly_performance_report_scopes(uuid),
  public.claim_weekly_performance_report(uuid, uuid, timestamptz, timestamptz, integer),
  public.persist_weekly_performance_report(
    uuid, uuid, uuid, uuid, timestamptz, timestamptz, integer, text, text, jsonb),
  public.fail_weekly_performance_report(uuid, uuid, text)
to service_role;
