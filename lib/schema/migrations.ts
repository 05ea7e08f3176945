import { createHash } from "node:crypto";
import type postgres from "postgres";
import clock from "../../sql/0001_weekly_performance_clock.sql" with { type: "text" };
import reports from "../../sql/0002_weekly_performance_reports.sql" with { type: "text" };
import deliveries from "../../sql/0003_weekly_performance_deliveries.sql" with { type: "text" };
import reconciliations from "../../sql/0004_weekly_performance_reconciliations.sql" with { type: "text" };
import privileges from "../../sql/0005_weekly_performance_privileges.sql" with { type: "text" };
import unattended from "../../sql/0006_weekly_performance_unattended.sql" with { type: "text" };
import erasure from "../../sql/0007_weekly_performance_erasure.sql" with { type: "text" };
import history from "../../sql/0008_weekly_performance_history.sql" with { type: "text" };

/** One numbered SQL file of `sql/`, carried in the binary. */
export type Migration = { version: number; name: string; sql: string };

/** Every migration in the order of its number; a released file is never edited, a change is a new file. */
export const MIGRATIONS: readonly Migration[] = [
  { version: 1, name: "0001_weekly_performance_clock", sql: clock },
  { version: 2, name: "0002_weekly_performance_reports", sql: reports },
  { version: 3, name: "0003_weekly_performance_deliveries", sql: deliveries },
  { version: 4, name: "0004_weekly_performance_reconciliations", sql: reconciliations },
  { version: 5, name: "0005_weekly_performance_privileges", sql: privileges },
  { version: 6, name: "0006_weekly_performance_unattended", sql: unattended },
  { version: 7, name: "0007_weekly_performance_erasure", sql: erasure },
  { version: 8, name: "0008_weekly_performance_history", sql: history },
];

type Recorded = { version: number; name: string; checksum: string; appliedAt: string };

/** The state of one migration in a database. */
export type MigrationStatus = {
  version: number;
  name: string;
  /** `edited`: applied from another text than this program carries; `unknown`: not known to this program. */
  state: "applied" | "pending" | "edited" | "unknown";
  appliedAt: string | null;
};

/** SHA-256 of a migration's text, lower-case hex. */
export function migrationChecksum(migration: Migration): string {
  return createHash("sha256").update(migration.sql, "utf8").digest("hex");
}

/** A query with one row: whether the record of migrations exists, and whether the login may read it and sees its rows. */
export function recordAccess(sql: postgres.Sql): postgres.PendingQuery<postgres.Row[]> {
  return sql`
    select count(*) > 0 as exists,
           coalesce(bool_and(has_table_privilege(c.oid, 'SELECT')), false) as readable,
           coalesce(bool_and(not row_security_active(c.oid) or exists (
             select from pg_roles as r
             where r.rolname = 'service_role' and pg_has_role(current_user, r.oid, 'USAGE'))), false) as visible
    from pg_class as c
    where c.relname = 'opsctl_migrations' and c.relnamespace = 'public'::regnamespace`;
}

/** The recorded migrations in the order of their versions; the table must exist. */
export async function readRecordedMigrations(sql: postgres.ISql): Promise<Recorded[]> {
  return await sql<Recorded[]>`
    select version, name, checksum,
           to_char(applied_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as "appliedAt"
    from public.opsctl_migrations order by version`;
}

/** Every migration that the program or the database knows, with its state, in the order of the versions. */
export function compareMigrations(
  recorded: readonly Recorded[],
  known: readonly Migration[] = MIGRATIONS,
): MigrationStatus[] {
  const rows = new Map(recorded.map((row) => [row.version, row]));
  const ours = known.map((migration): MigrationStatus => {
    const { version, name } = migration;
    const row = rows.get(version);
    rows.delete(version);
    const state = !row ? "pending" : row.checksum === migrationChecksum(migration) ? "applied" : "edited";
    return { version, name, state, appliedAt: row?.appliedAt ?? null };
  });
  const others = [...rows.values()].map(({ checksum: _, ...row }) => ({ ...row, state: "unknown" as const }));
  return [...ours, ...others].sort((a, b) => a.version - b.version);
}

/** The names of the migrations in one state. */
export function namesIn(migrations: readonly MigrationStatus[], state: MigrationStatus["state"]): string[] {
  return migrations.filter((migration) => migration.state === state).map(({ name }) => name);
}
