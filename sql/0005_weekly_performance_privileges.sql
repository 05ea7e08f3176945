-- Pages read fewer columns, reconciliations record the login, and functions ignore what a caller's session defines.

-- The columns that a page needs. Token, lease, attempts, evidence and error code are the worker's own.
revoke all on table public.weekly_performance_reports from public, anon, authenticated, service_role;
grant select on table public.weekly_performance_reports to service_role;
grant select
  (id, tenant_id, user_id, window_start, window_end, schema_version, status, payload, coverage_status, completed_at)
  on table public.weekly_performance_reports to authenticated;

-- The actor is typed by hand; this is the login of the session, as the server knows it. Older records have none.
alter table public.weekly_performance_reconciliations
  add column if not exists session_user_name text;
alter table public.weekly_performance_reconciliations
  alter column session_user_name set default session_user;

comment on column public.weekly_performance_reconciliations.session_user_name is
  'The login that the session was opened with, whatever role and actor it acted under.';

create or replace function public.reconcile_weekly_performance_delivery(
  p_delivery_id uuid, p_status text, p_provider_message_id text, p_reason text, p_actor text)
returns table (status text, error_code text)
language plpgsql security definer rows 1
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_now  constant timestamptz := public.weekly_performance_now();
  v_row  public.weekly_performance_deliveries;
  v_code text := 'reconciled_not_sent';
begin
  select d.* into v_row from public.weekly_performance_deliveries as d where d.id = p_delivery_id for update;
  if v_row.id is null then
    raise exception using errcode = 'OW021', message = 'delivery_not_found';
  end if;
  if v_row.status <> 'unknown' then
    raise exception using errcode = 'OW030', message = 'delivery_not_unknown';
  end if;

  insert into public.weekly_performance_reconciliations
    (delivery_id, status, provider_message_id, reason, actor, session_user_name, created_at)
  values (p_delivery_id, p_status, p_provider_message_id, p_reason, p_actor, session_user, v_now);

  if p_status = 'sent' then
    v_code := null;
    if v_row.channel = 'whatsapp' then
      v_code := public.weekly_performance_add_timeline_entry(v_row, p_provider_message_id);
    end if;
  end if;
  update public.weekly_performance_deliveries as d
  set status = p_status, provider_message_id = p_provider_message_id, error_code = v_code,
      settled_at = v_now, updated_at = v_now
  where d.id = p_delivery_id;
  return query select p_status, v_code;
end $$;

-- A path that does not name pg_temp searches it first for tables and types: a caller's temporary type "uuid" would
-- stand for the real one inside a function that runs as its owner, and its check would run as the owner too.
alter function public.weekly_performance_now() set search_path = pg_catalog, pg_temp;
alter function public.weekly_performance_is_report_day(timestamptz) set search_path = pg_catalog, pg_temp;
alter function public.weekly_performance_window(timestamptz) set search_path = pg_catalog, pg_temp;
alter function public.weekly_performance_require_report_day() set search_path = pg_catalog, pg_temp;
alter function public.weekly_performance_require_last_window(timestamptz, timestamptz, timestamptz)
  set search_path = pg_catalog, pg_temp;
alter function public.weekly_performance_reports_guard() set search_path = pg_catalog, pg_temp;
alter function public.list_weekly_performance_report_scopes(uuid) set search_path = pg_catalog, pg_temp;
alter function public.claim_weekly_performance_report(uuid, uuid, timestamptz, timestamptz, integer)
  set search_path = pg_catalog, pg_temp;
alter function public.persist_weekly_performance_report(
  uuid, uuid, uuid, uuid, timestamptz, timestamptz, integer, text, text, jsonb)
  set search_path = pg_catalog, pg_temp;
alter function public.fail_weekly_performance_report(uuid, uuid, text) set search_path = pg_catalog, pg_temp;
alter function public.claim_weekly_performance_delivery(uuid, text) set search_path = pg_catalog, pg_temp;
alter function public.dispatch_weekly_performance_delivery(uuid, uuid, uuid, text)
  set search_path = pg_catalog, pg_temp;
alter function public.weekly_performance_add_timeline_entry(public.weekly_performance_deliveries, text)
  set search_path = pg_catalog, pg_temp;
alter function public.settle_weekly_performance_delivery(uuid, uuid, text, text, text)
  set search_path = pg_catalog, pg_temp;
alter function public.weekly_performance_names_recipient(text) set search_path = pg_catalog, pg_temp;
alter function public.weekly_performance_reconciliations_guard() set search_path = pg_catalog, pg_temp;
alter function public.weekly_performance_deliveries_guard() set search_path = pg_catalog, pg_temp;
