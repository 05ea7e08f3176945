-- The one clock of the weekly run, and what follows from it: the report day and the closed week.
-- Every decision about time, in SQL and in the worker alike, starts from weekly_performance_now().

create or replace function public.weekly_performance_now()
returns timestamptz
language sql stable
set search_path = ''
as $$ select now() $$;

comment on function public.weekly_performance_now() is
  'The instant from which window, Monday gate, leases and tokens of the weekly run follow.';

create or replace function public.weekly_performance_is_report_day(p_now timestamptz)
returns boolean
language sql stable
set search_path = ''
as $$ select extract(isodow from p_now at time zone 'America/Sao_Paulo') = 1 $$;

comment on function public.weekly_performance_is_report_day(timestamptz) is
  'Whether the instant falls on a Monday in America/Sao_Paulo, the only day on which the weekly run may write.';

create or replace function public.weekly_performance_window(p_now timestamptz)
returns table (window_start timestamptz, window_end timestamptz)
language sql stable rows 1
set search_path = ''
as $$
  -- From calendar dates: a week is seven dates, not 168 hours, since the zone had clock changes until 2019.
  select (monday - 7)::timestamp at time zone 'America/Sao_Paulo',
         monday::timestamp at time zone 'America/Sao_Paulo'
  from (select date_trunc('week', p_now at time zone 'America/Sao_Paulo')::date as monday) as week
$$;

comment on function public.weekly_performance_window(timestamptz) is
  'The last closed week, Monday 00:00 to Monday 00:00 in America/Sao_Paulo; start included, end excluded.';

create or replace function public.weekly_performance_require_report_day()
returns timestamptz
language plpgsql stable
set search_path = ''
as $$
declare
  v_now constant timestamptz := public.weekly_performance_now();
begin
  if not public.weekly_performance_is_report_day(v_now) then
    raise exception using errcode = 'OW001', message = 'weekly_performance_outside_report_day',
      hint = 'The weekly run writes on Mondays in America/Sao_Paulo only.';
  end if;
  return v_now;
end $$;

create or replace function public.weekly_performance_require_last_window(
  p_now timestamptz, p_window_start timestamptz, p_window_end timestamptz)
returns void
language plpgsql stable
set search_path = ''
as $$
begin
  if not exists (
    select from public.weekly_performance_window(p_now) as w
    where w.window_start = p_window_start and w.window_end = p_window_end
  ) then
    raise exception using errcode = 'OW002', message = 'weekly_performance_window_not_last_closed',
      hint = 'Only the last closed week can be claimed; an older week is closed for ever.';
  end if;
end $$;

-- Hosted platforms grant new functions to everybody by default privileges: take it back, then grant what is meant.
revoke all on function
  public.weekly_performance_now(),
  public.weekly_performance_is_report_day(timestamptz),
  public.weekly_performance_window(timestamptz),
  public.weekly_performance_require_report_day(),
  public.weekly_performance_require_last_window(timestamptz, timestamptz, timestamptz)
from public, anon, authenticated, service_role;

grant execute on function
  public.weekly_performance_now(),
  public.weekly_performance_is_report_day(timestamptz),
  public.weekly_performance_window(timestamptz)
to service_role;
