-- A Monday that mends itself: claims that may be asked again, the verdict over a whole week, erasure and retention.
--
-- Functions run with search_path = pg_catalog, pg_temp, and everything else is named with its schema.

-- All at once and before any work: who works on them meanwhile waits, instead of holding one while it waits for another.
lock table public.weekly_performance_reports, public.weekly_performance_deliveries,
  public.weekly_performance_reconciliations in access exclusive mode;

-- Clock, day and week are asked for many times for each report. Functions without a path of their own become part of
-- the expression that calls them, instead of a call each; their bodies are bound when they are made.

create or replace function public.weekly_performance_now()
returns timestamptz
language sql stable
return now();

create or replace function public.weekly_performance_is_report_day(p_now timestamptz)
returns boolean
language sql stable
return extract(isodow from p_now at time zone 'America/Sao_Paulo') = 1;

create or replace function public.weekly_performance_window(p_now timestamptz)
returns table (window_start timestamptz, window_end timestamptz)
language sql stable rows 1
begin atomic
  -- From calendar dates: a week is seven dates, not 168 hours, since the zone had clock changes until 2019.
  select (monday - 7)::timestamp at time zone 'America/Sao_Paulo',
         monday::timestamp at time zone 'America/Sao_Paulo'
  from (select date_trunc('week', p_now at time zone 'America/Sao_Paulo')::date as monday) as week;
end;

-- A row whose lease has expired still says running, but no run works on it any more. These two have no path either.

create or replace function public.weekly_performance_report_state(
  p_status text, p_lease_expires_at timestamptz, p_now timestamptz)
returns text
language sql immutable
return case when p_status = 'running' and p_lease_expires_at <= p_now then 'failed' else p_status end;

comment on function public.weekly_performance_report_state(text, timestamptz, timestamptz) is
  'The state of a report as it is: one whose lease has expired has failed, whether or not a run has met it since.';

create or replace function public.weekly_performance_delivery_state(
  p_status text, p_dispatched_at timestamptz, p_lease_expires_at timestamptz, p_now timestamptz)
returns text
language sql immutable
return case when p_status <> 'running' or p_lease_expires_at > p_now then p_status
            when p_dispatched_at is null then 'failed' else 'unknown' end;

comment on function public.weekly_performance_delivery_state(text, timestamptz, timestamptz, timestamptz) is
  'The state of a delivery as it is: an expired lease means unknown after dispatch, and failed before it.';

-- The same delivery has the same id in a ledger that was restored from a backup, or copied with its database: under it
-- the e-mail provider knows a message that this ledger has forgotten, and does not send it again. A copy whose addresses
-- were replaced has other ids: under one account its e-mails must not stand in the way of the real ones. Of the address
-- only what the ledger keeps in any case goes in, its mask: from the whole of it, a guess at it could be confirmed.

create or replace function public.weekly_performance_delivery_id(
  p_tenant_id uuid, p_user_id uuid, p_window_start timestamptz, p_schema_version integer, p_channel text)
returns uuid
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_mask text;
begin
  begin
    select left(u.email::text, 1) || '***@' || substring(u.email::text from '@([^@]*)$') into v_mask
    from public.users as u where u.id = p_user_id;
  exception when insufficient_privilege or undefined_column then
    -- The functions' owner need not be able to read it; then the id follows from the rest.
    v_mask := null;
  end;
  -- As a UUID of one's own making (RFC 9562, version 8).
  return overlay(overlay(
    left(encode(sha256(convert_to(
      concat_ws(' ', 'weekly_performance_delivery', p_tenant_id, p_user_id, extract(epoch from p_window_start),
                p_schema_version, p_channel, v_mask), 'UTF8')), 'hex'), 32)
    placing '8' from 13) placing '8' from 17)::uuid;
end $$;

comment on function public.weekly_performance_delivery_id(uuid, uuid, timestamptz, integer, text) is
  'The id of a delivery: it follows from whose report of which week it carries, by which channel, and the masked address.';

-- What a run has to look for although it was sent: few rows.
create index if not exists weekly_performance_deliveries_unwritten
  on public.weekly_performance_deliveries (created_at) where status = 'sent' and error_code is not null;

-- Whose message it is that a provider keeps: one of many that were sent.
create index if not exists weekly_performance_deliveries_provider_message
  on public.weekly_performance_deliveries (provider_message_id) where status = 'sent';

-- Erasure: the application deletes a user or a tenant, and opsctl's rows go with it. The reports' own keys, which close
-- the application's tables while they change, have a file of their own.

alter table public.weekly_performance_deliveries
  drop constraint if exists weekly_performance_deliveries_report,
  add constraint weekly_performance_deliveries_report
    foreign key (report_id, tenant_id, user_id)
    references public.weekly_performance_reports (id, tenant_id, user_id) on delete cascade;

alter table public.weekly_performance_reconciliations
  drop constraint if exists weekly_performance_reconciliations_delivery_id_fkey,
  add constraint weekly_performance_reconciliations_delivery_id_fkey
    foreign key (delivery_id) references public.weekly_performance_deliveries (id) on delete cascade;

-- A cascade deletes these rows after their parent: a row whose parent is still there is what proves that a message was
-- sent, and stays.
create or replace function public.weekly_performance_reports_delete_guard()
returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if exists (select from public.tenants as t where t.id = old.tenant_id)
     and exists (select from public.users as u where u.id = old.user_id) then
    raise exception using errcode = 'OW033', message = 'weekly_performance_rows_are_kept',
      hint = 'A report goes with its tenant or user. opsctl reports prune removes the content of older weeks.';
  end if;
  return old;
end $$;

create or replace trigger weekly_performance_reports_delete_guard
  before delete on public.weekly_performance_reports
  for each row execute function public.weekly_performance_reports_delete_guard();

-- What stays of an erased owner: that a provider's message had an owner, so that it is never taken for the message of
-- another delivery to the same telephone. The provider's id itself may hold the number; its digest
-- does not tell it, for most of an id is random.
create table if not exists public.weekly_performance_erased_messages (
  digest    bytea not null,
  erased_on date not null,

  constraint weekly_performance_erased_messages_digest check (octet_length(digest) = 32)
);

comment on table public.weekly_performance_erased_messages is
  'Digests of the providers'' ids of messages whose delivery went with its tenant or user. Written by functions only.';

create index if not exists weekly_performance_erased_messages_lookup
  on public.weekly_performance_erased_messages (digest);

alter table public.weekly_performance_erased_messages enable row level security;

drop policy if exists weekly_performance_erased_messages_service_reads on public.weekly_performance_erased_messages;
create policy weekly_performance_erased_messages_service_reads on public.weekly_performance_erased_messages
  for select to service_role
  using (true);

create or replace function public.weekly_performance_message_digest(p_provider_message_id text)
returns bytea
language sql immutable
return sha256(convert_to('weekly_performance_message ' || p_provider_message_id, 'UTF8'));

comment on function public.weekly_performance_message_digest(text) is
  'What is kept of a provider''s id when its delivery is erased.';

create or replace function public.weekly_performance_remember_erased(p_provider_message_id text)
returns void
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  insert into public.weekly_performance_erased_messages (digest, erased_on)
  values (public.weekly_performance_message_digest(p_provider_message_id),
          (public.weekly_performance_now() at time zone 'America/Sao_Paulo')::date)
$$;

create or replace function public.weekly_performance_deliveries_delete_guard()
returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if exists (select from public.weekly_performance_reports as r where r.id = old.report_id) then
    raise exception using errcode = 'OW033', message = 'weekly_performance_rows_are_kept',
      hint = 'A delivery goes with its report, and that with its tenant or user.';
  end if;
  if old.status = 'sent' then
    perform public.weekly_performance_remember_erased(old.provider_message_id);
  end if;
  return old;
end $$;

create or replace trigger weekly_performance_deliveries_delete_guard
  before delete on public.weekly_performance_deliveries
  for each row execute function public.weekly_performance_deliveries_delete_guard();

create or replace function public.weekly_performance_reconciliations_guard()
returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if tg_op = 'DELETE' and not exists (
    select from public.weekly_performance_deliveries as d where d.id = old.delivery_id
  ) then
    return old;
  end if;
  raise exception using errcode = 'OW031', message = 'reconciliations_are_append_only';
end $$;

-- Retention: the content of an old week goes, the proof that it was reported stays.

alter table public.weekly_performance_reports add column if not exists pruned_at timestamptz;

comment on column public.weekly_performance_reports.pruned_at is
  'When payload and evidence of an older week were removed; key, state and fingerprint stay.';

alter table public.weekly_performance_reports
  drop constraint if exists weekly_performance_reports_completed,
  add constraint weekly_performance_reports_completed check (
    (status = 'completed' and pruned_at is null) = (payload is not null)
    and (status = 'completed' and pruned_at is null) = (evidence is not null)
    and (status = 'completed') = (fingerprint is not null)
    and (status = 'completed') = (coverage_status is not null)
    and (status = 'completed') = (completed_at is not null)
    and (status = 'completed' or pruned_at is null));

create index if not exists weekly_performance_reports_unpruned
  on public.weekly_performance_reports (window_start) where status = 'completed' and pruned_at is null;

grant select (pruned_at) on table public.weekly_performance_reports to authenticated;

create or replace function public.weekly_performance_reports_guard()
returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if old.status = 'completed' and (
    old.pruned_at is not null or new.pruned_at is null
    or to_jsonb(old) - '{payload,evidence,pruned_at,updated_at}'::text[]
       is distinct from to_jsonb(new) - '{payload,evidence,pruned_at,updated_at}'::text[]
  ) then
    raise exception using errcode = 'OW012', message = 'report_completed_is_immutable';
  end if;
  if (old.id, old.tenant_id, old.user_id, old.window_start, old.window_end, old.schema_version)
     is distinct from
     (new.id, new.tenant_id, new.user_id, new.window_start, new.window_end, new.schema_version) then
    raise exception using errcode = 'OW012', message = 'report_identity_is_immutable';
  end if;
  return new;
end $$;

create or replace function public.prune_weekly_performance_reports(p_before timestamptz, p_limit integer)
returns integer
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now    constant timestamptz := public.weekly_performance_now();
  v_newest timestamptz;
  v_pruned integer;
begin
  -- As local dates: eight weeks are 56 dates, not 1344 hours.
  select ((w.window_end at time zone 'America/Sao_Paulo')::date - 56)::timestamp at time zone 'America/Sao_Paulo'
  into v_newest from public.weekly_performance_window(v_now) as w;
  if p_before is null or p_before > v_newest then
    raise exception using errcode = 'OW014', message = 'prune_week_too_young',
      hint = 'A week keeps its content for eight weeks after it has closed.';
  end if;
  with old as (
    select r.id from public.weekly_performance_reports as r
    where r.window_start < p_before and r.status = 'completed' and r.pruned_at is null
    order by r.window_start
    limit p_limit
    for update skip locked
  ), pruned as (
    update public.weekly_performance_reports as r
    set payload = null, evidence = null, pruned_at = v_now, updated_at = v_now
    from old where r.id = old.id
    returning 1
  )
  select count(*) into v_pruned from pruned;
  -- Without the content no message is looked up any more.
  delete from public.weekly_performance_erased_messages as e
  where e.erased_on < (p_before at time zone 'America/Sao_Paulo')::date;
  return v_pruned;
end $$;

comment on function public.prune_weekly_performance_reports(timestamptz, integer) is
  'Removes payload and evidence of reports of weeks that begin before p_before, p_limit at most; answers how many.';

-- One order of locks: tenant and user, report, claim, delivery, provider's message. A deletion in the application locks
-- them in this order, too, so that it waits for these functions or they for it, and no deadlock ends either.
-- Of tenant and user, which a new row's foreign keys lock one after the other, some applications delete the one first and
-- some the other. So a function that waits for one of them gives the other back before the server looks for a deadlock
-- (deadlock_timeout, one second), and begins again.

create or replace function public.weekly_performance_insert_report(
  p_tenant_id uuid, p_user_id uuid, p_window_start timestamptz, p_window_end timestamptz, p_schema_version integer,
  p_claim_token uuid, p_lease_expires_at timestamptz, p_now timestamptz)
returns public.weekly_performance_reports
language plpgsql
set search_path = pg_catalog, pg_temp set lock_timeout = '400ms'
as $$
declare
  v_row public.weekly_performance_reports;
begin
  for v_try in 1..75 loop
    begin
      insert into public.weekly_performance_reports as r
        (tenant_id, user_id, window_start, window_end, schema_version, status, claim_token, lease_expires_at,
         created_at, updated_at)
      values
        (p_tenant_id, p_user_id, p_window_start, p_window_end, p_schema_version, 'running', p_claim_token,
         p_lease_expires_at, p_now, p_now)
      on conflict on constraint weekly_performance_reports_key do nothing
      returning r.* into v_row;
      return v_row;
    exception when lock_not_available then
      -- What it held is free again; a moment, so that who waited for it gets it before the next try.
      perform pg_sleep(0.05);
    end;
  end loop;
  raise exception using errcode = 'lock_not_available', message = 'weekly_performance_owner_is_locked';
end $$;

create or replace function public.weekly_performance_lock_delivery(p_delivery_id uuid)
returns public.weekly_performance_deliveries
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_row public.weekly_performance_deliveries;
begin
  perform from public.weekly_performance_reports as r
  where r.id = (select d.report_id from public.weekly_performance_deliveries as d where d.id = p_delivery_id)
  for key share;
  select d.* into v_row from public.weekly_performance_deliveries as d where d.id = p_delivery_id for update;
  return v_row;
end $$;

-- Returns null, or the code under which a delivery that was sent is kept although its entry is missing. The entry locks
-- tenant and user, so it comes before the delivery's own lock, and is taken back when the delivery has changed since it
-- was read. Why it is missing is said to the caller's statement in opsctl.timeline_cause, which ends with the transaction:
-- SQLSTATE and constraint, never a message, which may repeat the row.
create or replace function public.weekly_performance_add_timeline_entry(
  p_delivery public.weekly_performance_deliveries, p_provider_message_id text)
returns text
language plpgsql
set search_path = pg_catalog, pg_temp set lock_timeout = '400ms'
as $$
declare
  v_constraint text;
begin
  for v_try in 1..75 loop
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
      if public.weekly_performance_lock_delivery(p_delivery.id) is distinct from p_delivery then
        raise exception 'the delivery has changed';
      end if;
      return null;
    exception
      when lock_not_available then
        perform pg_sleep(0.05);
      -- others leaves out these two, and a time limit on the entry must not take the settled row with it.
      when query_canceled or assert_failure or others then
        get stacked diagnostics v_constraint = constraint_name;
        perform set_config('opsctl.timeline_cause', concat_ws(' ', sqlstate, nullif(v_constraint, '')), true);
        return 'timeline_entry_failed';
    end;
  end loop;
  perform set_config('opsctl.timeline_cause', '55P03', true);
  return 'timeline_entry_failed';
end $$;

-- For one tenant the plan is kept, which finds the rows by key: made anew for each claim it was a third of what the
-- claim took.
create or replace function public.list_weekly_performance_report_scopes(p_tenant_id uuid default null)
returns table (tenant_id uuid, user_id uuid)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  -- Switched on for the owner of this function, it would make owners look like people who get no report.
  if row_security_active('public.tenants') or row_security_active('public.users')
     or row_security_active('public.credit_wallets') then
    raise exception using errcode = 'insufficient_privilege', message = 'weekly_performance_owners_are_hidden',
      hint = 'Row security hides rows of tenants, users or credit_wallets from the owner of opsctl''s functions.';
  end if;
  if p_tenant_id is null then
    return query
      select t.id, u.id
      from public.tenants as t
      join public.credit_wallets as w on w.tenant_id = t.id and w.status in ('active', 'grace')
      join public.users as u on u.tenant_id = t.id and u.role = 'owner'
      where t.archived_at is null
      order by t.id, u.id;
  else
    -- The same rule.
    return query
      select t.id, u.id
      from public.tenants as t
      join public.credit_wallets as w on w.tenant_id = t.id and w.status in ('active', 'grace')
      join public.users as u on u.tenant_id = t.id and u.role = 'owner'
      where t.archived_at is null and t.id = p_tenant_id
      order by t.id, u.id;
  end if;
end $$;

-- Claims bring their token: asked again with it after a lost answer, they answer the same claim.

drop function if exists public.claim_weekly_performance_report(uuid, uuid, timestamptz, timestamptz, integer);
drop function if exists public.claim_weekly_performance_delivery(uuid, text);

create or replace function public.claim_weekly_performance_report(
  p_tenant_id uuid, p_user_id uuid, p_window_start timestamptz, p_window_end timestamptz, p_schema_version integer,
  p_claim_token uuid default gen_random_uuid())
returns table (report_id uuid, outcome text, claim_token uuid, lease_expires_at timestamptz)
language plpgsql security definer rows 1
set search_path = pg_catalog, pg_temp set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  v_now   constant timestamptz := public.weekly_performance_require_report_day();
  v_token constant uuid := coalesce(p_claim_token, gen_random_uuid());
  v_lease constant timestamptz := v_now + interval '20 minutes';
  v_other uuid;
  v_row   public.weekly_performance_reports;
begin
  perform public.weekly_performance_require_last_window(v_now, p_window_start, p_window_end);
  if p_schema_version is distinct from 1 then
    raise exception using errcode = 'OW013', message = 'report_schema_version_unknown',
      hint = 'This database is not migrated for that version of the report: opsctl migrate.';
  end if;

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
    if v_row.claim_token = v_token then
      return query select v_row.id, case v_row.attempts when 1 then 'claimed' else 'resumed' end, v_token,
                          v_row.lease_expires_at;
    else
      return query select v_row.id, 'busy', null::uuid, v_row.lease_expires_at;
    end if;
    return;
  end if;

  -- An upgrade between two runs: what the other version has sent, or may be sending, must not be sent again.
  select r.id into v_other
  from public.weekly_performance_reports as r
  join public.weekly_performance_deliveries as d on d.report_id = r.id
  where r.tenant_id = p_tenant_id and r.user_id = p_user_id
    and r.window_start = p_window_start and r.window_end = p_window_end
    and r.schema_version <> p_schema_version and r.status = 'completed'
    and d.status in ('running', 'sent', 'unknown')
  order by r.schema_version desc limit 1;
  if v_other is not null then
    return query select v_other, 'completed', null::uuid, null::timestamptz;
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
    v_row := public.weekly_performance_insert_report(
      p_tenant_id, p_user_id, p_window_start, p_window_end, p_schema_version, v_token, v_lease, v_now);
    if v_row.id is null then
      -- Another session created the row between our look and our insert: its fresh lease is valid.
      return query
        select c.* from public.claim_weekly_performance_report(
          p_tenant_id, p_user_id, p_window_start, p_window_end, p_schema_version, v_token) as c;
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

comment on function public.claim_weekly_performance_report(
  uuid, uuid, timestamptz, timestamptz, integer, uuid) is
  'Creates or recovers the single row of the window for 20 minutes. A token is answered only with claimed, resumed, '
  'taken_over; asked again with the token of a valid lease, the same claim is answered.';

create or replace function public.claim_weekly_performance_delivery(
  p_report_id uuid, p_channel text, p_claim_token uuid default gen_random_uuid())
returns table (delivery_id uuid, outcome text, claim_token uuid, lease_expires_at timestamptz)
language plpgsql security definer rows 1
set search_path = pg_catalog, pg_temp set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  v_now    constant timestamptz := public.weekly_performance_require_report_day();
  v_token  constant uuid := coalesce(p_claim_token, gen_random_uuid());
  v_lease  constant timestamptz := v_now + interval '5 minutes';
  v_report record;
  v_row    public.weekly_performance_deliveries;
begin
  select r.id, r.tenant_id, r.user_id, r.status, r.window_start, r.window_end, r.schema_version into v_report
  from public.weekly_performance_reports as r where r.id = p_report_id
  for key share;
  if v_report.id is null then
    raise exception using errcode = 'OW003', message = 'report_not_found';
  end if;
  if v_report.status <> 'completed' then
    raise exception using errcode = 'OW020', message = 'delivery_report_not_completed';
  end if;
  perform public.weekly_performance_require_last_window(v_now, v_report.window_start, v_report.window_end);

  -- Two versions of opsctl at once: each has a report of its own, and the owner gets one message. So claims for one
  -- owner, week and channel come one after the other, and each sees what the one before has done.
  perform pg_advisory_xact_lock(hashtextextended(
    concat_ws(' ', 'weekly_performance_claim', v_report.tenant_id, v_report.user_id,
              extract(epoch from v_report.window_start), p_channel), 0));
  select d.* into v_row
  from public.weekly_performance_reports as r
  join public.weekly_performance_deliveries as d on d.report_id = r.id and d.channel = p_channel
  where r.tenant_id = v_report.tenant_id and r.user_id = v_report.user_id
    and r.window_start = v_report.window_start and r.window_end = v_report.window_end
    and r.id <> p_report_id
    and public.weekly_performance_delivery_state(d.status, d.dispatched_at, d.lease_expires_at, v_now)
        in ('running', 'sent', 'unknown')
  limit 1;
  if v_row.id is not null then
    return query
      select v_row.id,
             case public.weekly_performance_delivery_state(
                    v_row.status, v_row.dispatched_at, v_row.lease_expires_at, v_now)
               when 'running' then 'busy' when 'sent' then 'sent' else 'unknown' end,
             null::uuid, null::timestamptz;
    return;
  end if;

  insert into public.weekly_performance_deliveries as d
    (id, report_id, tenant_id, user_id, channel, status, claim_token, lease_expires_at, attempts, created_at,
     updated_at)
  values
    (public.weekly_performance_delivery_id(
       v_report.tenant_id, v_report.user_id, v_report.window_start, v_report.schema_version, p_channel),
     p_report_id, v_report.tenant_id, v_report.user_id, p_channel, 'running', v_token, v_lease, 1, v_now, v_now)
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
    -- Asked again with its token, the claim is the same one, until it was dispatched: then a send may be under way.
    if v_row.claim_token = v_token and v_row.dispatched_at is null then
      return query select v_row.id, case v_row.attempts when 1 then 'claimed' else 'resumed' end, v_token,
                          v_row.lease_expires_at;
    else
      return query select v_row.id, 'busy', null::uuid, v_row.lease_expires_at;
    end if;
    return;
  end if;
  if v_row.status = 'running' and v_row.dispatched_at is not null then
    -- The holder of the lease may have reached the provider: no run may send this again.
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

comment on function public.claim_weekly_performance_delivery(uuid, text, uuid) is
  'Creates or recovers the delivery for 5 minutes. An expired lease is taken over before dispatch, and is unknown after '
  'it; asked again with the token of a valid lease, the same claim is answered.';

-- Settling restores what a failover has forgotten, and an erased row is no failure.

create or replace function public.settle_weekly_performance_delivery(
  p_delivery_id uuid, p_claim_token uuid, p_status text, p_provider_message_id text, p_error_code text)
returns table (status text, error_code text)
language plpgsql security definer rows 1
set search_path = pg_catalog, pg_temp set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  v_now  constant timestamptz := public.weekly_performance_now();
  v_row  public.weekly_performance_deliveries;
  v_code text := p_error_code;
  v_is_locked boolean := false;
begin
  if p_status is null or p_status not in ('sent', 'failed', 'unknown') then
    raise exception using errcode = 'OW028', message = 'delivery_status_not_final';
  end if;
  if (p_status = 'sent') is distinct from (coalesce(p_provider_message_id, '') <> '')
     or (p_status = 'sent') is distinct from (p_error_code is null) then
    raise exception using errcode = 'OW029', message = 'delivery_result_incomplete',
      hint = 'sent needs the provider''s id and no code; failed and unknown need a code and no id.';
  end if;

  select d.* into v_row from public.weekly_performance_deliveries as d where d.id = p_delivery_id;
  if p_status = 'sent' and v_row.channel = 'whatsapp' then
    v_code := 'timeline_entry_failed';
    if v_row.status = 'running' and v_row.claim_token = p_claim_token then
      v_code := public.weekly_performance_add_timeline_entry(v_row, p_provider_message_id);
      -- With the entry the row is locked, and still as it was read.
      v_is_locked := v_code is null;
    end if;
  end if;
  if not v_is_locked then
    v_row := public.weekly_performance_lock_delivery(p_delivery_id);
  end if;
  if v_row.id is null then
    if p_status = 'sent' then
      perform public.weekly_performance_remember_erased(p_provider_message_id);
    end if;
    return query select 'erased', null::text;
    return;
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

  -- An expired lease does not matter here: no other run has taken the row, and the outcome must not be lost.
  -- A replica that was promoted may not have seen the dispatch; its holder sent, so it took place.
  update public.weekly_performance_deliveries as d
  set status = p_status, provider_message_id = p_provider_message_id, error_code = v_code,
      dispatched_at = case when p_status = 'failed' then d.dispatched_at else coalesce(d.dispatched_at, v_now) end,
      settled_at = v_now, updated_at = v_now
  where d.id = p_delivery_id;
  return query select p_status, v_code;
end $$;

comment on function public.settle_weekly_performance_delivery(uuid, uuid, text, text, text) is
  'The final state of one send, for the holder of the token, on any day and after the lease as well; erased when the '
  'row went with its tenant or user.';

-- A sent delivery is the truth; only the entry that it lacks may be added later.
create or replace function public.weekly_performance_deliveries_guard()
returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if (old.id, old.report_id, old.tenant_id, old.user_id, old.channel)
     is distinct from (new.id, new.report_id, new.tenant_id, new.user_id, new.channel) then
    raise exception using errcode = 'OW026', message = 'delivery_identity_is_immutable';
  end if;
  if old.status = 'sent' and (
    old.error_code is distinct from 'timeline_entry_failed' or new.error_code is not null
    or to_jsonb(old) - '{error_code,updated_at}'::text[]
       is distinct from to_jsonb(new) - '{error_code,updated_at}'::text[]
  ) then
    raise exception using errcode = 'OW026', message = 'delivery_sent_is_immutable';
  end if;
  -- Apart, because a condition with a query in it is planned and begun for each row, whatever stands before it.
  if old.status = 'unknown' then
    if not exists (
      select from public.weekly_performance_reconciliations as c
      where c.delivery_id = old.id and c.transaction_id = pg_current_xact_id()
        and c.status = new.status and c.provider_message_id is not distinct from new.provider_message_id
    ) then
      raise exception using errcode = 'OW026', message = 'delivery_unknown_is_terminal',
        hint = 'Look the message up at the provider, then use opsctl deliveries reconcile.';
    end if;
  end if;
  return new;
end $$;

create or replace function public.repair_weekly_performance_delivery(p_delivery_id uuid)
returns table (status text, error_code text)
language plpgsql security definer rows 1
set search_path = pg_catalog, pg_temp set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  v_row  public.weekly_performance_deliveries;
  v_code text := 'timeline_entry_failed';
begin
  select d.* into v_row from public.weekly_performance_deliveries as d where d.id = p_delivery_id;
  if v_row.status = 'sent' and v_row.error_code = 'timeline_entry_failed' then
    v_code := public.weekly_performance_add_timeline_entry(v_row, v_row.provider_message_id);
  end if;
  v_row := public.weekly_performance_lock_delivery(p_delivery_id);
  if v_row.id is null then
    raise exception using errcode = 'OW021', message = 'delivery_not_found';
  end if;
  if v_code is null then
    update public.weekly_performance_deliveries as d
    set error_code = null, updated_at = public.weekly_performance_now()
    where d.id = p_delivery_id;
    v_row.error_code := null;
  end if;
  return query select v_row.status, v_row.error_code;
end $$;

comment on function public.repair_weekly_performance_delivery(uuid) is
  'Writes the timeline entry that a sent delivery lacks, once, on any day; answers the state as it is then.';

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
  select d.* into v_row from public.weekly_performance_deliveries as d where d.id = p_delivery_id;
  if p_status = 'sent' then
    v_code := case when v_row.channel = 'whatsapp'
                   then public.weekly_performance_add_timeline_entry(v_row, p_provider_message_id) end;
  end if;
  v_row := public.weekly_performance_lock_delivery(p_delivery_id);
  if v_row.id is null then
    raise exception using errcode = 'OW021', message = 'delivery_not_found';
  end if;
  if public.weekly_performance_delivery_state(
       v_row.status, v_row.dispatched_at, v_row.lease_expires_at, v_now) <> 'unknown' then
    raise exception using errcode = 'OW030', message = 'delivery_not_unknown';
  end if;
  if p_status = 'sent' and p_provider_message_id is not null then
    -- One message is one delivery's; two sessions with the same id come one after the other.
    perform pg_advisory_xact_lock(hashtextextended('weekly_performance_message ' || p_provider_message_id, 0));
    if exists (
      select from public.weekly_performance_deliveries as d
      where d.status = 'sent' and d.provider_message_id = p_provider_message_id
        and d.channel = v_row.channel and d.id <> p_delivery_id
      union all
      select from public.weekly_performance_erased_messages as e
      where e.digest = public.weekly_performance_message_digest(p_provider_message_id)
    ) then
      raise exception using errcode = 'OW034', message = 'provider_message_of_another_delivery',
        hint = 'Each message belongs to one delivery: find out which one is this delivery''s.';
    end if;
  end if;
  if v_row.status = 'running' then
    update public.weekly_performance_deliveries as d
    set status = 'unknown', error_code = 'lease_expired_after_dispatch', settled_at = v_now, updated_at = v_now
    where d.id = p_delivery_id;
  end if;

  insert into public.weekly_performance_reconciliations
    (delivery_id, status, provider_message_id, reason, actor, session_user_name, created_at)
  values (p_delivery_id, p_status, p_provider_message_id, p_reason, p_actor, session_user, v_now);

  update public.weekly_performance_deliveries as d
  set status = p_status, provider_message_id = p_provider_message_id, error_code = v_code,
      settled_at = v_now, updated_at = v_now
  where d.id = p_delivery_id;
  return query select p_status, v_code;
end $$;

-- The verdict over one week: everything in that window, from all runs and hosts.

create or replace function public.weekly_performance_week(p_window_start timestamptz, p_window_end timestamptz)
returns jsonb
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
-- To compile the query takes longer than the query, once years of weeks make it look expensive.
set plan_cache_mode = force_custom_plan set jit = off
as $$
declare
  v_now  constant timestamptz := public.weekly_performance_now();
  v_week jsonb;
begin
  with owner as materialized (
    select s.tenant_id, s.user_id from public.list_weekly_performance_report_scopes() as s
  ), version as (
    -- The one place where payloads are read: carried through further steps they take longer than all the rest.
    select r.id, r.tenant_id, r.user_id, r.status, r.schema_version,
           public.weekly_performance_report_state(r.status, r.lease_expires_at, v_now) as state,
           network.connected, network.failed,
           count(*) over (partition by r.tenant_id, r.user_id) as versions
    from public.weekly_performance_reports as r
    cross join lateral (
      select count(*) as connected, count(*) filter (where source.value ->> 'status' = 'failed') as failed
      from jsonb_array_elements(r.payload -> 'provenance' -> 'sources') as source
      where source.value ? 'connectionId' and source.value ->> 'code' is distinct from 'social_left_out'
    ) as network
    where r.window_start = p_window_start and r.window_end = p_window_end
  ), report as materialized (
    -- Of several versions the one that has gone farthest.
    select distinct on (r.tenant_id, r.user_id) r.id, r.tenant_id, r.user_id, r.state, r.connected, r.failed
    from version as r
    order by r.tenant_id, r.user_id,
             case when r.versions > 1 then
               exists (select from public.weekly_performance_deliveries as d
                       where d.report_id = r.id and d.status in ('running', 'sent', 'unknown')) end desc,
             r.status = 'completed' desc, r.schema_version desc
  ), scope as materialized (
    select o.user_id is not null as eligible, r.id as report_id, coalesce(r.state, 'missing') as state,
           r.connected, r.failed
    from owner as o full join report as r using (tenant_id, user_id)
    -- An owner who joined after the last moment at which the week could be reported is not missing.
    where r.id is not null or not exists (
      select from public.users as u
      where u.id = o.user_id and u.created_at >=
        ((p_window_end at time zone 'America/Sao_Paulo')::date + 1)::timestamp at time zone 'America/Sao_Paulo')
  ), delivery as (
    select s.eligible, c.channel,
           coalesce(case c.channel when 'whatsapp' then d.whatsapp else d.email end, 'missing') as state
    from scope as s
    cross join lateral (
      select max(x.state) filter (where x.channel = 'whatsapp') as whatsapp,
             max(x.state) filter (where x.channel = 'email') as email
      from (
        select d.channel,
               case when d.status = 'sent' and d.error_code is not null then 'partial'
                    else public.weekly_performance_delivery_state(
                           d.status, d.dispatched_at, d.lease_expires_at, v_now) end as state
        from public.weekly_performance_deliveries as d where d.report_id = s.report_id
      ) as x
    ) as d
    cross join (values ('whatsapp'), ('email')) as c(channel)
    where s.state = 'completed'
  ), delivery_count as (
    -- What failed for an owner who gets no reports any more cannot be mended, so it is counted apart.
    select d.channel, jsonb_build_object(
      'sent', count(*) filter (where d.state = 'sent'),
      'partial', count(*) filter (where d.state = 'partial'),
      'failed', count(*) filter (where d.eligible and d.state in ('failed', 'pending')),
      'unknown', count(*) filter (where d.state = 'unknown'),
      'running', count(*) filter (where d.state = 'running'),
      'missing', count(*) filter (where d.eligible and d.state = 'missing')) as counts,
      count(*) filter (where not d.eligible and d.state in ('failed', 'pending', 'missing')) as left_behind
    from delivery as d group by d.channel
  ), empty as (
    select jsonb_build_object('sent', 0, 'partial', 0, 'failed', 0, 'unknown', 0, 'running', 0, 'missing', 0) as counts
  )
  select jsonb_build_object(
    'owners', (select count(*) from scope where eligible),
    'reports', (
      select jsonb_build_object(
        'completed', count(*) filter (where s.state = 'completed'),
        'running', count(*) filter (where s.state = 'running'),
        'failed', count(*) filter (where s.eligible and s.state = 'failed'),
        'missing', count(*) filter (where s.state = 'missing'))
      from scope as s),
    'whatsapp', coalesce((select counts from delivery_count where channel = 'whatsapp'), (select counts from empty)),
    'email', coalesce((select counts from delivery_count where channel = 'email'), (select counts from empty)),
    'social', (
      select jsonb_build_object(
        'connected', coalesce(sum(s.connected), 0),
        'failed', coalesce(sum(s.failed), 0),
        'owners', count(*) filter (where s.failed > 0))
      from scope as s),
    'noLongerEligible', jsonb_build_object(
      'reports', (select count(*) from scope where not eligible and state = 'failed'),
      'whatsapp', coalesce((select left_behind from delivery_count where channel = 'whatsapp'), 0),
      'email', coalesce((select left_behind from delivery_count where channel = 'email'), 0)),
    'before', (
      select jsonb_build_object(
        'week', to_char(r.window_start at time zone 'America/Sao_Paulo', 'YYYY-MM-DD'),
        'owners', count(distinct r.user_id))
      from public.weekly_performance_reports as r
      where r.status = 'completed' and r.window_start = (
        select max(e.window_start) from public.weekly_performance_reports as e
        where e.window_start < p_window_start and e.status = 'completed')
      group by r.window_start)
  ) into v_week;
  return v_week;
end $$;

comment on function public.weekly_performance_week(timestamptz, timestamptz) is
  'What the ledger holds of one week: owners, reports, deliveries by channel, social networks. An expired lease counts '
  'as what it means; partial is sent without its timeline entry; before is the newest earlier week with reports.';

-- The owners behind those counts, one row each.

create or replace function public.weekly_performance_week_owners(
  p_window_start timestamptz, p_window_end timestamptz, p_tenant_id uuid default null)
returns table (
  tenant_id uuid, user_id uuid, tenant_name text, eligible boolean, report_id uuid, report_state text,
  whatsapp_id uuid, whatsapp_state text, email_id uuid, email_state text, changed_at timestamptz)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan set jit = off
as $$
#variable_conflict use_column
declare
  v_now constant timestamptz := public.weekly_performance_now();
begin
  return query
  with owner as materialized (
    select s.tenant_id, s.user_id from public.list_weekly_performance_report_scopes(p_tenant_id) as s
  ), version as (
    select r.id, r.tenant_id, r.user_id, r.status, r.schema_version, r.updated_at,
           public.weekly_performance_report_state(r.status, r.lease_expires_at, v_now) as state,
           count(*) over (partition by r.tenant_id, r.user_id) as versions
    from public.weekly_performance_reports as r
    where r.window_start = p_window_start and r.window_end = p_window_end
      and (p_tenant_id is null or r.tenant_id = p_tenant_id)
  ), report as materialized (
    -- Of several versions the one that has gone farthest.
    select distinct on (r.tenant_id, r.user_id) r.id, r.tenant_id, r.user_id, r.state, r.updated_at
    from version as r
    order by r.tenant_id, r.user_id,
             case when r.versions > 1 then
               exists (select from public.weekly_performance_deliveries as d
                       where d.report_id = r.id and d.status in ('running', 'sent', 'unknown')) end desc,
             r.status = 'completed' desc, r.schema_version desc
  ), scope as materialized (
    select tenant_id, user_id, o.user_id is not null as eligible, r.id as report_id,
           coalesce(r.state, 'missing') as state, r.updated_at
    from owner as o full join report as r using (tenant_id, user_id)
    where r.id is not null or not exists (
      select from public.users as u
      where u.id = o.user_id and u.created_at >=
        ((p_window_end at time zone 'America/Sao_Paulo')::date + 1)::timestamp at time zone 'America/Sao_Paulo')
  )
  select s.tenant_id, s.user_id, t.name::text, s.eligible, s.report_id, s.state,
         d.whatsapp_id, case when s.state = 'completed' then coalesce(d.whatsapp, 'missing') end,
         d.email_id, case when s.state = 'completed' then coalesce(d.email, 'missing') end,
         greatest(s.updated_at, d.updated_at)
  from scope as s
  left join public.tenants as t on t.id = s.tenant_id
  -- By the report, one by one: joined, the deliveries of all weeks would be read.
  cross join lateral (
    select (array_agg(x.id) filter (where x.channel = 'whatsapp'))[1] as whatsapp_id,
           max(x.state) filter (where x.channel = 'whatsapp') as whatsapp,
           (array_agg(x.id) filter (where x.channel = 'email'))[1] as email_id,
           max(x.state) filter (where x.channel = 'email') as email,
           max(x.updated_at) as updated_at
    from (
      select d.id, d.channel, d.updated_at,
             case when d.status = 'sent' and d.error_code is not null then 'partial'
                  when d.status = 'pending' then 'failed'
                  else public.weekly_performance_delivery_state(
                         d.status, d.dispatched_at, d.lease_expires_at, v_now) end as state
      from public.weekly_performance_deliveries as d where d.report_id = s.report_id
    ) as x
  ) as d;
end $$;

comment on function public.weekly_performance_week_owners(timestamptz, timestamptz, uuid) is
  'Every owner whom weekly_performance_week counts, of one tenant or of all, with the states of report and deliveries.';

revoke all on function
  public.weekly_performance_insert_report(
    uuid, uuid, timestamptz, timestamptz, integer, uuid, timestamptz, timestamptz),
  public.weekly_performance_lock_delivery(uuid),
  public.weekly_performance_delivery_id(uuid, uuid, timestamptz, integer, text),
  public.weekly_performance_message_digest(text),
  public.weekly_performance_remember_erased(text),
  public.weekly_performance_report_state(text, timestamptz, timestamptz),
  public.weekly_performance_delivery_state(text, timestamptz, timestamptz, timestamptz),
  public.weekly_performance_reports_delete_guard(),
  public.weekly_performance_deliveries_delete_guard(),
  public.prune_weekly_performance_reports(timestamptz, integer),
  public.claim_weekly_performance_report(uuid, uuid, timestamptz, timestamptz, integer, uuid),
  public.claim_weekly_performance_delivery(uuid, text, uuid),
  public.repair_weekly_performance_delivery(uuid),
  public.weekly_performance_week(timestamptz, timestamptz),
  public.weekly_performance_week_owners(timestamptz, timestamptz, uuid)
from public, anon, authenticated, service_role;

revoke all on table public.weekly_performance_erased_messages from public, anon, authenticated, service_role;
grant select on table public.weekly_performance_erased_messages to service_role;

grant execute on function
  public.weekly_performance_message_digest(text),
  public.weekly_performance_report_state(text, timestamptz, timestamptz),
  public.weekly_performance_delivery_state(text, timestamptz, timestamptz, timestamptz),
  public.prune_weekly_performance_reports(timestamptz, integer),
  public.claim_weekly_performance_report(uuid, uuid, timestamptz, timestamptz, integer, uuid),
  public.claim_weekly_performance_delivery(uuid, text, uuid),
  public.repair_weekly_performance_delivery(uuid),
  public.weekly_performance_week(timestamptz, timestamptz),
  public.weekly_performance_week_owners(timestamptz, timestamptz, uuid)
to service_role;
