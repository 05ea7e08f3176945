import type postgres from "postgres";
import { compareMigrations, MIGRATIONS, readRecordedMigrations } from "../../../schema/migrations.ts";
import type { Check } from "../../context/check.ts";
import { type CheckResult, command, fail, pass, warn } from "../../finding.ts";
import { checkOfDatabase } from "./database.ts";

/** The columns of a report that a signed-in user's page reads; the others are for the worker only. */
const PAGE_COLUMNS = [
  ...["id", "tenant_id", "user_id", "window_start", "window_end", "schema_version", "status", "payload"],
  ...["coverage_status", "completed_at", "pruned_at"],
];
const GRANT_PAGE = command(
  "revoke select on public.weekly_performance_reports from public, authenticated; " +
    `grant select (${PAGE_COLUMNS.join(", ")}) on public.weekly_performance_reports to authenticated;`,
);
const NEWER = "Use the opsctl that migrated this database, or a newer one";

/** What a state of migrations means; a pending one is a warning, because `migrate` applies it. */
const STATES = {
  pending: (names: string) => warn("DATABASE_NOT_MIGRATED", `pending: ${names}`, command("opsctl migrate")),
  edited: (names: string) => fail("MIGRATION_EDITED", `applied from another text: ${names}`, NEWER),
  unknown: (names: string) => fail("MIGRATION_UNKNOWN", `unknown to this opsctl: ${names}`, NEWER),
};

/** Which migrations are applied, and whether pages may still read what the migrations granted. */
export const MIGRATIONS_CHECK: Check = checkOfDatabase("migrate", "migrations", async (sql) => {
  const [row] = await sql<[{ exists: boolean }]>`
    select to_regclass('public.opsctl_migrations') is not null as exists`;
  const migrations = compareMigrations(row.exists ? await readRecordedMigrations(sql) : []);
  const problems = Object.entries(STATES).flatMap(([state, result]) => {
    const names = migrations.filter((migration) => migration.state === state).map(({ name }) => name);
    return names.length === 0 ? [] : [result(names.join(", "))];
  });
  if (problems.length > 0) return problems;
  return [pass(`all ${MIGRATIONS.length} migrations are applied`), ...(await pageResults(sql))];
});

/**
 * A warning when signed-in users (the role `authenticated`) may read other columns than their page needs; no run depends
 * on it.
 *
 * Behaviour: a platform that runs "grant select on all tables" after the migration opens every column again. Row
 *            policies decide which rows are seen. Nothing without the role or the table.
 */
async function pageResults(sql: postgres.Sql): Promise<CheckResult[]> {
  const rows = await sql<{ name: string; readable: boolean }[]>`
    select a.attname as name, has_column_privilege(r.oid, a.attrelid, a.attnum, 'SELECT') as readable
    from pg_attribute as a join pg_class as c on c.oid = a.attrelid join pg_roles as r on r.rolname = 'authenticated'
    where c.relname = 'weekly_performance_reports' and c.relnamespace = 'public'::regnamespace
      and a.attnum > 0 and not a.attisdropped
    order by a.attnum`;
  const wrong = rows.filter(({ name, readable }) => readable !== PAGE_COLUMNS.includes(name));
  if (wrong.length === 0) return [];
  const differences = [true, false].flatMap((readable) => {
    const names = wrong.filter((row) => row.readable === readable).map(({ name }) => name);
    return names.length === 0 ? [] : [`${readable ? "may" : "may not"} read ${names.join(", ")}`];
  });
  const reason = `authenticated ${differences.join(" and ")} of weekly_performance_reports`;
  return [warn("PAGE_GRANT_DIFFERS", reason, GRANT_PAGE)];
}
