import type postgres from "postgres";

/**
 * Why the timeline entry of a delivery is missing, for the statement that has just tried to write it: SQLSTATE and the
 * name of the constraint; null where it was written, or not tried.
 */
export function timelineCause(sql: postgres.Sql): postgres.PendingQuery<postgres.Row[]> {
  return sql`nullif(current_setting('opsctl.timeline_cause', true), '')`;
}
