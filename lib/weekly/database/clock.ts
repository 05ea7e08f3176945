import type postgres from "postgres";

/** The database's clock: canonical UTC text with microseconds. */
export async function readNow(sql: postgres.Sql): Promise<string> {
  const [row] = await sql`
    select to_char(public.weekly_performance_now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as now`;
  return row!.now;
}
