-- The delivery ledger: one row per report and channel, claimed before and settled after its single send.

create table if not exists public.weekly_performance_deliveries (
  id                  uuid primary key default gen_random_uuid(),
  report_id           uuid not null,
  tenant_id           uuid not null,
  user_id             uuid not null,
  channel             text not null,
  status              text not null,
  claim_token         uuid,
  lease_expires_at    timestamptz,
  attempts            integer not null default 0,
  sender_tenant_id    uuid,
  masked_hint         text,
  provider_message_id text,
  error_code          text,
  dispatched_at       timestamptz,
  settled_at          timestamptz,
  created_at          timestamptz not null default now(),
  updated_at          timestamptz not null default now(),

  constraint weekly_performance_deliveries_key unique (report_id, channel),
  constraint weekly_performance_deliveries_report
    foreign key (report_id, tenant_id, user_id)
    references public.weekly_performance_reports (id, tenant_id, user_id),
  constraint weekly_performance_deliveries_channel check (channel in ('whatsapp', 'email')),
  constraint weekly_performance_deliveries_status
    check (status in ('pending', 'running', 'sent', 'failed', 'unknown')),
  constraint weekly_performance_deliveries_attempts check (attempts >= 0),
  constraint weekly_performance_deliveries_running check (
    status <> 'running' or (claim_token is not null and lease_expires_at is not null)),
  -- Only what was handed to a provider can be sent, or be in doubt.
  constraint weekly_performance_deliveries_dispatched check (
    status not in ('sent', 'unknown') or dispatched_at is not null),
  constraint weekly_performance_deliveries_provider_id check (
    (status = 'sent') = (provider_message_id is not null)
    and char_length(provider_message_id) between 1 and 512),
  -- A mask cannot hold a whole number or address.
  constraint weekly_performance_deliveries_masked_hint check (
    case channel when 'whatsapp' then masked_hint ~ '^[0-9]{4}$'
                 else masked_hint ~ '^[^@[:space:]]\*\*\*@[^@[:space:]]{1,255}$' end),
  constraint weekly_performance_deliveries_error_code check (error_code ~ '^[A-Za-z0-9_.:-]{1,64}$')
);

comment on table public.weekly_performance_deliveries is
  'One delivery per report and channel. Holds a mask, never a number or an address. Written through functions only.';

-- The rows that a run has to look at again, and that an operator asks for: few among the many that were sent.
create index if not exists weekly_performance_deliveries_unsettled
  on public.weekly_performance_deliveries (status, created_at) where status <> 'sent';

alter table public.weekly_performance_deliveries enable row level security;

drop policy if exists weekly_performance_deliveries_service_reads on public.weekly_performance_deliveries;
create policy weekly_performance_deliveries_service_reads on public.weekly_performance_deliveries
  for select to service_role
  using (true);

create or replace function public.claim_weekly_performance_delivery(p_report_id uuid, p_channel text)
returns table (delivery_id uuid, outcome text, claim_token uuid, lease_expires_at timestamptz)
language plpgsql security definer rows 1
set search_path = '' set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  v_now    constant timestamptz := public.weekly_performance_require_report_day();
  v_token  constant uuid := gen_random_uuid();
  v_lease  constant timestamptz := v_now + interval '5 minutes';
  v_report record;
  v_row    public.weekly_performance_deliveries;
begin
  select r.id, r.tenant_id, r.user_id, r.status, r.window_start, r.window_end into v_report
  from public.weekly_performance_reports as r where r.id = p_report_id;
  if v_report.id is null then
    raise exception using errcode = 'OW003', message = 'report_not_found';
  end if;
  if v_report.status <> 'completed' then
    raise exception using errcode = 'OW020', message = 'delivery_report_not_completed';
  end if;
  perform public.weekly_performance_require_last_window(v_now, v_report.window_start, v_report.window_end);

  insert into public.weekly_performance_deliveries as d
    (report_id, tenant_id, user_id, channel, status, claim_token, lease_expires_at, attempts, created_at, updated_at)
  values
    (p_report_id, v_report.tenant_id, v_report.user_id, p_channel, 'running', v_token, v_lease, 1, v_now, v_now)
  on conflict on constraint weekly_performance_deliveries_key do nothing
  returning d.* into v_row;
  if v_row.id is not null then
    return query select v_row.id, 'claimed', v_token, v_lease;
    return;
  end if;
  select d.* into strict v_row from public.weekly_performance_deliveries as d
  where d.report_id = p_report_id and d.channel = p_channel
  for update;

  if v_row.status in ('sent', 'unknown') then
    return query select v_row.id, v_row.status, null::uuid, null::timestamptz;
    return;
  end if;
  if v_row.status = 'running' and v_row.lease_expires_at > v_now then
    return query select v_row.id, 'busy', null::uuid, v_row.lease_expires_at;
    return;
  end if;
  if v_row.status = 'running' and v_row.dispatched_at is not null then
    -- Whoever held the lease may have reached the provider: nobody may send this again by itself.
    update public.weekly_performance_deliveries as d
    set status = 'unknown', error_code = 'lease_expired_after_dispatch', settled_at = v_now, updated_at = v_now
    where d.id = v_row.id;
    return query select v_row.id, 'unknown', null::uuid, null::timestamptz;
    return;
  end if;

  update public.weekly_performance_deliveries as d
  set status = 'running', claim_token = v_token, lease_expires_at = v_lease, attempts = d.attempts + 1,
      sender_tenant_id = null, masked_hint = null, error_code = null, dispatched_at = null, settled_at = null,
      updated_at = v_now
  where d.id = v_row.id;
  return query
    select v_row.id,
           case v_row.status when 'pending' then 'claimed' when 'failed' then 'resumed' else 'taken_over' end,
           v_token, v_lease;
end $$;

comment on function public.claim_weekly_performance_delivery(uuid, text) is
  'Creates or recovers the delivery for 5 minutes. An expired lease is taken over before dispatch, and is unknown after it.';

create or replace function public.dispatch_weekly_performance_delivery(
  p_delivery_id uuid, p_claim_token uuid, p_sender_tenant_id uuid, p_masked_hint text)
returns void
language plpgsql security definer
set search_path = '' set enable_seqscan = off
as $$
declare
  v_now constant timestamptz := public.weekly_performance_require_report_day();
  v_row public.weekly_performance_deliveries;
begin
  select d.* into v_row from public.weekly_performance_deliveries as d where d.id = p_delivery_id for update;
  if v_row.id is null then
    raise exception using errcode = 'OW021', message = 'delivery_not_found';
  end if;
  if v_row.claim_token is distinct from p_claim_token then
    raise exception using errcode = 'OW022', message = 'delivery_token_mismatch';
  end if;
  if v_row.status <> 'running' then
    raise exception using errcode = 'OW024', message = 'delivery_not_running';
  end if;
  if v_row.lease_expires_at <= v_now then
    raise exception using errcode = 'OW023', message = 'delivery_lease_expired';
  end if;
  if p_sender_tenant_id is null or p_masked_hint is null then
    raise exception using errcode = 'OW032', message = 'delivery_audit_data_missing';
  end if;
  if v_row.dispatched_at is not null then
    if (v_row.sender_tenant_id, v_row.masked_hint) is distinct from (p_sender_tenant_id, p_masked_hint) then
      raise exception using errcode = 'OW027', message = 'delivery_already_dispatched';
    end if;
    return;
  end if;
  update public.weekly_performance_deliveries as d
  set dispatched_at = v_now, sender_tenant_id = p_sender_tenant_id, masked_hint = p_masked_hint,
      updated_at = v_now
  where d.id = p_delivery_id;
end $$;

comment on function public.dispatch_weekly_performance_delivery(uuid, uuid, uuid, text) is
  'The point of no return: after it the provider may have the message.';

-- Answers null, or the code under which a delivery that was sent is kept although its entry is missing.
create or replace function public.weekly_performance_add_timeline_entry(
  p_delivery public.weekly_performance_deliveries, p_provider_message_id text)
returns text
language plpgsql
set search_path = ''
as $$
begin
  insert into public.timeline_entries (tenant_id, user_id, source, kind, title, metadata)
  select p_delivery.tenant_id, p_delivery.user_id, 'weekly_performance_report', 'whatsapp',
         'Relatório semanal de desempenho enviado por WhatsApp',
         jsonb_build_object(
           'reportId', p_delivery.report_id, 'deliveryId', p_delivery.id,
           'providerMessageId', p_provider_message_id,
           'week', to_char(r.window_start at time zone 'America/Sao_Paulo', 'YYYY-MM-DD'))
  from public.weekly_performance_reports as r where r.id = p_delivery.report_id;
  -- A check that the application put off to the commit would take the settled row down with it: ask it here.
  set constraints all immediate;
  return null;
-- others leaves out these two, and a time limit on the entry must not take the settled row with it.
exception when query_canceled or assert_failure or others then
  return 'timeline_entry_failed';
end $$;

create or replace function public.settle_weekly_performance_delivery(
  p_delivery_id uuid, p_claim_token uuid, p_status text, p_provider_message_id text, p_error_code text)
returns table (status text, error_code text)
language plpgsql security definer rows 1
set search_path = '' set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  v_now  constant timestamptz := public.weekly_performance_now();
  v_row  public.weekly_performance_deliveries;
  v_code text := p_error_code;
begin
  if p_status is null or p_status not in ('sent', 'failed', 'unknown') then
    raise exception using errcode = 'OW028', message = 'delivery_status_not_final';
  end if;
  if (p_status = 'sent') is distinct from (coalesce(p_provider_message_id, '') <> '')
     or (p_status = 'sent') is distinct from (p_error_code is null) then
    raise exception using errcode = 'OW029', message = 'delivery_result_incomplete',
      hint = 'sent needs the provider''s id and no code; failed and unknown need a code and no id.';
  end if;

  select d.* into v_row from public.weekly_performance_deliveries as d where d.id = p_delivery_id for update;
  if v_row.id is null then
    raise exception using errcode = 'OW021', message = 'delivery_not_found';
  end if;
  if v_row.claim_token is distinct from p_claim_token then
    raise exception using errcode = 'OW022', message = 'delivery_token_mismatch';
  end if;
  -- The same call again, whose first answer was lost. A sent row keeps its own remark about the timeline.
  if v_row.status = p_status and v_row.provider_message_id is not distinct from p_provider_message_id
     and (v_row.status = 'sent' or v_row.error_code = p_error_code) then
    return query select v_row.status, v_row.error_code;
    return;
  end if;
  if v_row.status <> 'running' then
    raise exception using errcode = 'OW024', message = 'delivery_not_running';
  end if;
  if p_status in ('sent', 'unknown') and v_row.dispatched_at is null then
    raise exception using errcode = 'OW025', message = 'delivery_not_dispatched';
  end if;

  -- An expired lease does not matter here: nobody has taken the row, and the truth must not be lost.
  if p_status = 'sent' and v_row.channel = 'whatsapp' then
    v_code := public.weekly_performance_add_timeline_entry(v_row, p_provider_message_id);
  end if;
  update public.weekly_performance_deliveries as d
  set status = p_status, provider_message_id = p_provider_message_id, error_code = v_code,
      settled_at = v_now, updated_at = v_now
  where d.id = p_delivery_id;
  return query select p_status, v_code;
end $$;

comment on function public.settle_weekly_performance_delivery(uuid, uuid, text, text, text) is
  'The final state of one send, for the holder of the token, on any day and after the lease as well.';

revoke all on table public.weekly_performance_deliveries from public, anon, authenticated, service_role;
grant select on table public.weekly_performance_deliveries to service_role;

revoke all on function
  public.claim_weekly_performance_delivery(uuid, text),
  public.dispatch_weekly_performance_delivery(uuid, uuid, uuid, text),
  public.weekly_performance_add_timeline_entry(public.weekly_performance_deliveries, text),
  public.settle_weekly_performance_delivery(uuid, uuid, text, text, text)
from public, anon, authenticated, service_role;

grant execute on function
  public.claim_weekly_performance_delivery(uuid, text),
  public.dispatch_weekly_performance_delivery(uuid, uuid, uuid, text),
  public.settle_weekly_performance_delivery(uuid, uuid, text, text, text)
to service_role;
