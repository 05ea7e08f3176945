import type postgres from "postgres";

/** Whether a run, of whatever host, has begun a report of any week. */
export async function hasReports(sql: postgres.ISql): Promise<boolean> {
  const [row] = await sql<[{ exists: boolean }]>`
    select exists (select from public.weekly_performance_reports) as exists`;
  return row.exists;
}
