import type postgres from "postgres";

/** The columns that a signed-in user's page reads; the others are for the worker only. */
const PAGE_COLUMNS: readonly string[] = [
  "id",
  "tenant_id",
  "user_id",
  "window_start",
  "window_end",
  "schema_version",
  "status",
  "payload",
  "coverage_status",
  "completed_at",
  "pruned_at",
];

/** Columns of `weekly_performance_reports` that `authenticated` may read and should not, or should and may not. */
export type PageAccess = { tooMuch: string[]; tooLittle: string[] };

/**
 * Compares what `authenticated` may read of the reports with what a page needs.
 *
 * Behaviour: compares privileges only; row policies decide which rows are seen. A platform that runs "grant select on
 *            all tables" after the migration opens every column again. Without the role or the table both lists are
 *            empty.
 */
export async function readPageAccess(sql: postgres.Sql): Promise<PageAccess> {
  const rows = await sql<{ name: string; readable: boolean }[]>`
    select a.attname as name, has_column_privilege(r.oid, a.attrelid, a.attnum, 'SELECT') as readable
    from pg_attribute as a join pg_class as c on c.oid = a.attrelid join pg_roles as r on r.rolname = 'authenticated'
    where c.relname = 'weekly_performance_reports' and c.relnamespace = 'public'::regnamespace
      and a.attnum > 0 and not a.attisdropped
    order by a.attnum`;
  const named = (isWrong: (row: { name: string; readable: boolean }) => boolean) =>
    rows.filter(isWrong).map(({ name }) => name);
  return {
    tooMuch: named(({ name, readable }) => readable && !PAGE_COLUMNS.includes(name)),
    tooLittle: named(({ name, readable }) => !readable && PAGE_COLUMNS.includes(name)),
  };
}

/** The SQL that gives `authenticated` exactly what a page needs. */
export const PAGE_GRANT =
  "revoke select on public.weekly_performance_reports from public, authenticated; " +
  `grant select (${PAGE_COLUMNS.join(", ")}) on public.weekly_performance_reports to authenticated;`;
