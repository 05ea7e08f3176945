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
-- Or the plan is made anew for each report: for a thousand weeks, which nobody asks for, it looks dearer.
set plan_cache_mode = force_generic_plan
as $$
declare
  -- As local time: a week is seven dates, not 168 hours.
  v_week constant timestamp := date_trunc('week', p_window_start at time zone 'America/Sao_Paulo');
  v_scores  jsonb;
  v_last    jsonb;
  v_last_id uuid;
  v_sources jsonb;
  v_name    text;
  v_channel jsonb;
  v_analysis jsonb;
  v_source  jsonb;
  v_metrics jsonb := '{}';
  v_partial jsonb := '[]';
  v_connections jsonb := '{}';
begin
  select coalesce(jsonb_agg(jsonb_build_object(
           'week', to_char(week.monday, 'YYYY-MM-DD'),
           'score', coalesce(stored.score, stored.last #> '{accountScore,score}')) order by week.monday), '[]'),
         (array_agg(stored.last) filter (where week.age = 1))[1], (array_agg(stored.id) filter (where week.age = 1))[1]
  into v_scores, v_last, v_last_id
  from (select age, v_week - age * interval '7 days' as monday from generate_series(1, p_weeks) as age) as week
  -- Week by week: joined, all reports that this owner has ever had would be read. And each path once: a payload is
  -- unpacked whole for every path that is taken of it, unless it was unpacked before; adding nothing to it does that.
  left join lateral (
    select case when week.age > 1 then r.payload #> '{accountScore,score}' end as score,
           case when week.age = 1 then r.payload || '{}' end as last, r.id
    from public.weekly_performance_reports as r
    where r.tenant_id = p_tenant_id and r.user_id = p_user_id
      and r.window_start = week.monday at time zone 'America/Sao_Paulo'
      and r.window_end = (week.monday + interval '7 days') at time zone 'America/Sao_Paulo'
      -- By its key alone: one that is not completed, or pruned, has no payload. Asked for its state as well, an index of
      -- all owners' completed reports looks as cheap.
      and r.schema_version = p_schema_version
    offset 0) as stored on true;
  if jsonb_typeof(v_last -> 'channels') is distinct from 'object' then
    return jsonb_build_object('scores', v_scores, 'previous', null);
  end if;
  v_sources := case when jsonb_typeof(v_last #> '{provenance,sources}') = 'array' then v_last #> '{provenance,sources}' end;
  -- Channel by channel: there are few of them, and a join of them with their sources takes longer.
  for v_name, v_channel in select channel.key, channel.value from jsonb_each(v_last -> 'channels') as channel loop
    if v_channel ->> 'status' = 'available' then
      v_metrics := v_metrics || jsonb_build_object(v_name, v_channel -> 'metrics');
      if v_channel ->> 'coverageStatus' = 'partial' then
        v_partial := v_partial || to_jsonb(v_name);
      end if;
    end if;
    -- Whose figures they are: a channel names the analysis that it shows, its source that and the connection.
    v_analysis := v_channel #> '{evidence,0,rowId}';
    if jsonb_typeof(v_analysis) = 'string' then
      v_source := jsonb_path_query_first(
        v_sources, '$[*] ? (@.analysisId == $id)', jsonb_build_object('id', v_analysis));
      if v_source is not null then
        v_connections := v_connections || jsonb_build_object(v_name, v_source -> 'connectionId');
      end if;
    end if;
  end loop;
  return jsonb_build_object('scores', v_scores, 'previous', jsonb_build_object(
    'reportId', v_last_id, 'metrics', v_metrics, 'partial', v_partial, 'connections', v_connections));
end $$;

comment on function public.weekly_performance_report_history(uuid, uuid, timestamptz, integer, integer) is
  'Of the p_weeks weeks before one that begins at p_window_start: the scores of the stored reports of this owner and version, oldest first; of the last of them also its id, the metrics of its available channels, which of these are partial and the connections that they are of.';

revoke all on function
  public.weekly_performance_tenant_name(uuid),
  public.weekly_performance_report_history(uuid, uuid, timestamptz, integer, integer)
from public, anon, authenticated, service_role;

grant execute on function
  public.weekly_performance_tenant_name(uuid),
  public.weekly_performance_report_history(uuid, uuid, timestamptz, integer, integer)
to service_role;
