import type postgres from "postgres";
import { OpsError } from "../platform/errors.ts";
import type { WeekBounds } from "./week-state.ts";

/** A closed week as the database's clock sees it; instants in UTC text. */
export type ReportWeek = WeekBounds & {
  /** What that clock says. */
  now: string;
  /** The first local date, a Monday. */
  week: string;
  /** The last local date, a Sunday. */
  lastDate: string;
  /** Until when a run can still report on it; null when it cannot. */
  retryableUntil: string | null;
};

/**
 * The week that begins on `week`, or the last closed one.
 *
 * Errors: WEEK_NOT_CLOSED.
 */
export async function readReportWeek(sql: postgres.ISql, week: string | undefined): Promise<ReportWeek> {
  const [row] = await sql<(ReportWeek & { isClosed: boolean })[]>`
    with clock as (
      select public.weekly_performance_now() as now
    ), wanted as (
      select case when ${week ?? null}::text is null then w.window_start
             else ${week ?? null}::text::date::timestamp at time zone 'America/Sao_Paulo' end as window_start,
             w.window_start as last_start, c.now
      from clock as c, public.weekly_performance_window(c.now) as w
    ), dated as (
      select w.*, (w.window_start at time zone 'America/Sao_Paulo')::date as first_date from wanted as w
    ), bounded as (
      select d.*, (d.first_date + 7)::timestamp at time zone 'America/Sao_Paulo' as window_end from dated as d
    )
    select ${instant(sql, sql`now`)} as now, ${instant(sql, sql`window_start`)} as start, ${instant(sql, sql`window_end`)} as end,
      to_char(first_date, 'YYYY-MM-DD') as week, to_char(first_date + 6, 'YYYY-MM-DD') as "lastDate",
      window_start <= last_start as "isClosed",
      case when window_start = last_start and public.weekly_performance_is_report_day(now)
           then to_char(((first_date + 8)::timestamp at time zone 'America/Sao_Paulo') at time zone 'UTC',
                        'YYYY-MM-DD"T"HH24:MI:SS"Z"') end as "retryableUntil"
    from bounded`;
  const { isClosed, ...found } = row!;
  if (!isClosed) throw weekNotClosed(found.week);
  return found;
}

type Fragment = postgres.PendingQuery<postgres.Row[]>;

function instant(sql: postgres.ISql, column: Fragment): Fragment {
  return sql`to_char((${column}) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`;
}

function weekNotClosed(week: string): OpsError {
  return new OpsError({
    code: "WEEK_NOT_CLOSED",
    message: `Cannot look at the week of ${week}: it has not ended by the database's clock`,
    hint: "Name an earlier Monday, or leave --week out for the last closed week",
  });
}
