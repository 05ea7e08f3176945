import { createHash } from "node:crypto";
import type postgres from "postgres";
import { MIGRATIONS, type Migration } from "./migrations.ts";

/** One row of `public.opsctl_migrations`. */
export type RecordedMigration = { version: number; name: string; checksum: string; appliedAt: string };

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

/** The recorded migrations in the order of their versions; the table must exist. */
export async function readRecordedMigrations(sql: postgres.ISql): Promise<RecordedMigration[]> {
  return await sql<RecordedMigration[]>`
    select version, name, checksum,
           to_char(applied_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as "appliedAt"
    from public.opsctl_migrations order by version`;
}

/** Every migration that the program or the database knows, with its state, in the order of the versions. */
export function compareMigrations(
  recorded: readonly RecordedMigration[],
  known: readonly Migration[] = MIGRATIONS,
): MigrationStatus[] {
  const rows = new Map(recorded.map((row) => [row.version, row]));
  const ours = known.map((migration): MigrationStatus => {
    const row = rows.get(migration.version);
    rows.delete(migration.version);
    const state = !row ? "pending" : row.checksum === migrationChecksum(migration) ? "applied" : "edited";
    return { version: migration.version, name: migration.name, state, appliedAt: row?.appliedAt ?? null };
  });
  const others = [...rows.values()].map(
    (row): MigrationStatus => ({
      version: row.version,
      name: row.name,
      state: "unknown",
      appliedAt: row.appliedAt,
    }),
  );
  return [...ours, ...others].sort((a, b) => a.version - b.version);
}
