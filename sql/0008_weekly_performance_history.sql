-- What a report knows of the weeks before it: the stored reports of the same owner, which never change; and the name of
-- the business that it is about.

-- A name is shown and nothing more: where the functions' owner cannot read it, there is none, and no run is refused.
create or replace function public.weekly_performance_tenant_name(p_tenant_id uuid)
returns text
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp set enable_seqscan = off
as $$
begin
  -- Longer than any name: a payload keeps it, and a page of text is none.
  return (select left(t.name::text, 200) from public.tenants as t where t.id = p_tenant_id);
exception when insufficient_privilege or undefined_column then
  return null;
end $$;

comment on function public.weekly_performance_tenant_name(uuid) is
  'The name of a tenant, at most 200 characters of it; null where there is none or it may not be read.';

-- With the caller's own rights: whoever may read the reports may read this of them.
create or replace function public.weekly_performance_report_history(
  p_tenant_id uuid, p_user_id uuid, p_window_start timestamptz, p_schema_version integer, p_weeks integer)
returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp set enable_seqscan = off
as $$
begin
  return (
    with recursive week (age, window_start, window_end) as (
      select 1, w.window_start, w.window_end
      from public.weekly_performance_window(p_window_start) as w where p_weeks >= 1
      union all
      select week.age + 1, w.window_start, w.window_end
      from week cross join lateral public.weekly_performance_window(week.window_start) as w
      where week.age < p_weeks
    ), report as (
      select week.age, to_char(week.window_start at time zone 'America/Sao_Paulo', 'YYYY-MM-DD') as monday,
             stored.id, stored.score, stored.channels, stored.sources
      from week
      -- Week by week: joined, all reports that this owner has ever had would be read. And each path once: a payload
      -- is unpacked whole for every path that is taken of it.
      left join lateral (
        select r.id, r.payload #> '{accountScore,score}' as score,
               case when week.age = 1 then r.payload -> 'channels' end as channels,
               case when week.age = 1 then r.payload #> '{provenance,sources}' end as sources
        from public.weekly_performance_reports as r
        where r.tenant_id = p_tenant_id and r.user_id = p_user_id
          and r.window_start = week.window_start and r.window_end = week.window_end
          and r.schema_version = p_schema_version and r.status = 'completed' and r.pruned_at is null
        offset 0) as stored on true
    )
    select jsonb_build_object(
             'scores', coalesce(jsonb_agg(jsonb_build_object('week', report.monday, 'score', report.score)
               order by report.age desc), '[]'),
             'previous', jsonb_agg(jsonb_build_object(
               'reportId', report.id,
               'metrics', (
                 select coalesce(jsonb_object_agg(channel.key, channel.value -> 'metrics'), '{}')
                 from jsonb_each(report.channels) as channel
                 where channel.value ->> 'status' = 'available'),
               -- Whose figures they are: a channel names the analysis that it shows, its source that and the connection.
               'connections', (
                 select coalesce(jsonb_object_agg(channel.key, source.value -> 'connectionId'), '{}')
                 from jsonb_each(report.channels) as channel
                 join jsonb_array_elements(
                   case when jsonb_typeof(report.sources) = 'array' then report.sources else '[]' end) as source
                   on source.value ->> 'analysisId' = channel.value #>> '{evidence,0,rowId}')))
               filter (where jsonb_typeof(report.channels) = 'object') -> 0)
    from report);
end $$;

comment on function public.weekly_performance_report_history(uuid, uuid, timestamptz, integer, integer) is
  'Of the p_weeks weeks before one that begins at p_window_start: the scores of the stored reports of this owner and version, oldest first; of the last of them also its id, the metrics of its available channels and the connections that they are of.';

revoke all on function
  public.weekly_performance_tenant_name(uuid),
  public.weekly_performance_report_history(uuid, uuid, timestamptz, integer, integer)
from public, anon, authenticated, service_role;

grant execute on function
  public.weekly_performance_tenant_name(uuid),
  public.weekly_performance_report_history(uuid, uuid, timestamptz, integer, integer)
to service_role;
