-- The only way out of an unknown delivery: a person who looked, with a reason that stays on record.

-- Whether a person's words hold an e-mail address or a telephone number (nine digits or more). What only looks like
-- one is left out first: ids, dates, times, and masks, whose asterisks stand before the @.
create or replace function public.weekly_performance_names_recipient(p_text text)
returns boolean
language sql immutable
set search_path = ''
as $$
  select words ~ '[^[:space:]@*]@[^[:space:]@]+\.[^[:space:]@]'
      or words ~ '[0-9]([-+().[:space:]/]{0,3}[0-9]){8}'
  from regexp_replace(p_text,
    '[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}'
    '|\m(?=[0-9A-F]*[A-F])[0-9A-F]{16,64}\M'
    '|(?<![0-9])[0-9]{4}-[0-9]{2}-[0-9]{2}(?![0-9])'
    '|(?<![0-9])[0-9]{1,2}/[0-9]{1,2}(/[0-9]{4})?(?![0-9])'
    '|(?<![0-9])[0-9]{1,2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?(?![0-9])',
    'x', 'g') as words
$$;

create table if not exists public.weekly_performance_reconciliations (
  id                  uuid primary key default gen_random_uuid(),
  delivery_id         uuid not null references public.weekly_performance_deliveries (id),
  status              text not null,
  provider_message_id text,
  reason              text not null,
  actor               text not null,
  created_at          timestamptz not null default now(),
  -- Ties the record to the one change that it permits.
  transaction_id      xid8 not null default pg_current_xact_id(),

  constraint weekly_performance_reconciliations_status check (status in ('sent', 'failed')),
  constraint weekly_performance_reconciliations_provider_id check (
    (status = 'sent') = (provider_message_id is not null)
    and char_length(provider_message_id) between 1 and 512),
  constraint weekly_performance_reconciliations_reason check (
    char_length(reason) <= 1000 and reason ~ '[^[:space:]]'),
  constraint weekly_performance_reconciliations_actor check (
    char_length(actor) <= 200 and actor ~ '[^[:space:]]'),
  constraint weekly_performance_reconciliations_privacy check (
    not public.weekly_performance_names_recipient(reason))
);

comment on table public.weekly_performance_reconciliations is
  'Who decided what became of an unknown delivery, when and why. Append-only.';

create index if not exists weekly_performance_reconciliations_delivery
  on public.weekly_performance_reconciliations (delivery_id, created_at);

create or replace function public.weekly_performance_reconciliations_guard()
returns trigger
language plpgsql
set search_path = ''
as $$
begin
  raise exception using errcode = 'OW031', message = 'reconciliations_are_append_only';
end $$;

create or replace trigger weekly_performance_reconciliations_guard
  before update or delete on public.weekly_performance_reconciliations
  for each row execute function public.weekly_performance_reconciliations_guard();

create or replace trigger weekly_performance_reconciliations_truncate_guard
  before truncate on public.weekly_performance_reconciliations
  for each statement execute function public.weekly_performance_reconciliations_guard();

-- A sent or unknown delivery is the truth about a message that may be in somebody's hands.
create or replace function public.weekly_performance_deliveries_guard()
returns trigger
language plpgsql
set search_path = ''
as $$
begin
  if (old.id, old.report_id, old.tenant_id, old.user_id, old.channel)
     is distinct from (new.id, new.report_id, new.tenant_id, new.user_id, new.channel) then
    raise exception using errcode = 'OW026', message = 'delivery_identity_is_immutable';
  end if;
  if old.status = 'sent' then
    raise exception using errcode = 'OW026', message = 'delivery_sent_is_immutable';
  end if;
  if old.status = 'unknown' and not exists (
    select from public.weekly_performance_reconciliations as c
    where c.delivery_id = old.id and c.transaction_id = pg_current_xact_id()
      and c.status = new.status and c.provider_message_id is not distinct from new.provider_message_id
  ) then
    raise exception using errcode = 'OW026', message = 'delivery_unknown_is_terminal',
      hint = 'Look the message up at the provider, then use opsctl deliveries reconcile.';
  end if;
  return new;
end $$;

create or replace trigger weekly_performance_deliveries_guard
  before update on public.weekly_performance_deliveries
  for each row execute function public.weekly_performance_deliveries_guard();

alter table public.weekly_performance_reconciliations enable row level security;

drop policy if exists weekly_performance_reconciliations_service_reads on public.weekly_performance_reconciliations;
create policy weekly_performance_reconciliations_service_reads on public.weekly_performance_reconciliations
  for select to service_role
  using (true);

create or replace function public.reconcile_weekly_performance_delivery(
  p_delivery_id uuid, p_status text, p_provider_message_id text, p_reason text, p_actor text)
returns table (status text, error_code text)
language plpgsql security definer rows 1
set search_path = ''
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
    (delivery_id, status, provider_message_id, reason, actor, created_at)
  values (p_delivery_id, p_status, p_provider_message_id, p_reason, p_actor, v_now);

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

comment on function public.reconcile_weekly_performance_delivery(uuid, text, text, text, text) is
  'unknown to sent (with the provider''s id) or to failed (with proof that nothing was sent), on any day, on record.';

revoke all on table public.weekly_performance_reconciliations from public, anon, authenticated, service_role;
grant select on table public.weekly_performance_reconciliations to service_role;

revoke all on function
  public.weekly_performance_names_recipient(text),
  public.weekly_performance_reconciliations_guard(),
  public.weekly_performance_deliveries_guard(),
  public.reconcile_weekly_performance_delivery(uuid, text, text, text, text)
from public, anon, authenticated, service_role;

grant execute on function
  public.reconcile_weekly_performance_delivery(uuid, text, text, text, text)
to service_role;
