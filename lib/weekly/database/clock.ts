import type postgres from "postgres";
import type { WeekBounds } from "../../ledger/week-state.ts";

/**
 * Whether the server takes writes; the session stays open to a replica, and to a server that was set read-only.
 *
 * Errors: the driver's own, when the database is away altogether.
 */
export async function readWritable(sql: postgres.Sql): Promise<boolean> {
  const [row] = await sql`select current_setting('transaction_read_only') = 'off' as writable`;
  return row!.writable;
}

/** The database's clock: canonical UTC text with microseconds. */
export async function readNow(sql: postgres.Sql): Promise<string> {
  const [row] = await sql`
    select to_char(public.weekly_performance_now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as now`;
  return row!.now;
}

/** The last closed week before `now`, by the database's own zone data: what its functions accept. */
export async function readLastWeek(sql: postgres.Sql, now: string): Promise<WeekBounds> {
  const [row] = await sql<[WeekBounds]>`
    select to_char(w.window_start at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as start,
           to_char(w.window_end at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as end
    from public.weekly_performance_window(p_now => ${now}::text::timestamptz) as w`;
  return { start: row.start, end: row.end };
}
