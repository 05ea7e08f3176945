import type postgres from "postgres";
import type { WeekBounds } from "../ledger/week-state.ts";
import { STEP_COMMANDS, stepOf } from "../ledger/week-steps.ts";

/** What is open in a week, counted by step, state and code. */
export type OpenItem = {
  step: "reports" | "whatsapp" | "email" | "social";
  state: "failed" | "missing" | "unknown" | "partial" | "running";
  /** The code on the record; null where there is none, as for an owner that no run has reached. */
  code: string | null;
  count: number;
  /** The command that comes next; for what can no longer be sent, the one that names the owners. */
  next: string;
};

/** Open rows as counted, before anything is said about them. */
export type OpenCount = Pick<OpenItem, "step" | "state" | "code" | "count">;

/** What makes the next commands differ; `network` is the one that could be read least. */
export type OpenContext = { week: string; retryableUntil: string | null; network: string };

/** What is open in a week, and when its ledger was last written to; null when it is empty. */
export type OpenRows = { counts: OpenCount[]; changedAt: string | null };

/**
 * The open rows of a week, by step, state and code; the same rows as `weekly_performance_week` counts.
 *
 * Behaviour: what failed for an owner who gets no reports any more cannot be changed, so it is not open.
 */
export async function readOpenRows(sql: postgres.ISql, { start, end }: WeekBounds): Promise<OpenRows> {
  const [row] = await sql<[OpenRows]>`
    with owner as materialized (
      select o.eligible, o.report_id, o.report_state, o.whatsapp_id, o.whatsapp_state, o.email_id, o.email_state,
             o.changed_at
      from public.weekly_performance_week_owners(
        p_window_start => ${start}::text::timestamptz, p_window_end => ${end}::text::timestamptz) as o
    ), step as (
      select 1 as rank, 'reports' as step, o.eligible, o.report_state as state, o.report_id as id
      from owner as o where o.report_state <> 'completed'
      union all
      select 2, 'whatsapp', o.eligible, o.whatsapp_state, o.whatsapp_id from owner as o where o.whatsapp_state <> 'sent'
      union all
      select 3, 'email', o.eligible, o.email_state, o.email_id from owner as o where o.email_state <> 'sent'
    ), open as (
      select s.rank, s.step, s.state, ${codeOf(sql)} as code
      from step as s where s.eligible or s.state in ('unknown', 'partial', 'running')
    ), counted as (
      select o.rank, o.step, o.state, o.code, count(*)::int as count
      from open as o group by o.rank, o.step, o.state, o.code
    )
    select
      (select to_char(max(o.changed_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') from owner as o) as "changedAt",
      (select coalesce(json_agg(json_build_object('step', c.step, 'state', c.state, 'code', c.code, 'count', c.count)
                                order by c.rank, c.state, c.count desc, c.code), '[]')
       from counted as c) as counts`;
  return row;
}

/** The code on the row of a step `s`, looked up row by row: joined, the rows of all weeks would be read. */
function codeOf(sql: postgres.ISql): postgres.PendingQuery<postgres.Row[]> {
  return sql`
    case when s.step = 'reports' then
      (select r.error_code from public.weekly_performance_reports as r where r.id = s.id)
    else
      (select case when d.status = 'running' and s.state = 'unknown' then 'lease_expired_after_dispatch'
              else d.error_code end
       from public.weekly_performance_deliveries as d where d.id = s.id) end`;
}

/** The network that failed most often in a week. */
export async function readWorstNetwork(sql: postgres.ISql, { start, end }: WeekBounds): Promise<string> {
  const [row] = await sql<{ network: string }[]>`
    select source ->> 'channel' as network
    from public.weekly_performance_reports as r
    cross join lateral jsonb_array_elements(r.payload -> 'provenance' -> 'sources') as source
    where r.window_start = ${start}::text::timestamptz and r.window_end = ${end}::text::timestamptz
      and source ? 'connectionId' and source ->> 'status' = 'failed'
      and source ->> 'channel' in ('instagram', 'linkedin')
    group by 1 order by count(*) desc, 1 limit 1`;
  return row?.network ?? "instagram";
}

/** Says what comes next for each. */
export function openItems(counts: readonly OpenCount[], context: OpenContext): OpenItem[] {
  return counts.map((item) => ({ ...item, next: nextCommand(item, context) }));
}

function nextCommand({ step, state }: OpenCount, { week, retryableUntil, network }: OpenContext): string {
  if (step === "social") return `opsctl reports list --week ${week} --channel ${network}`;
  const weekStep = stepOf(state, { isClosed: retryableUntil === null });
  return weekStep === null ? `opsctl reports list --week ${week} --state ${state}` : STEP_COMMANDS[weekStep];
}
