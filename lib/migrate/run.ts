import type postgres from "postgres";
import { classifyDatabaseError } from "../platform/database/error.ts";
import { liftSessionLimits } from "../platform/database/session-limits.ts";
import { OpsError } from "../platform/errors.ts";
import { readCatalog } from "../schema/catalog.ts";
import { MIGRATIONS, type Migration } from "../schema/migrations.ts";
import { grantProblems, platformProblems, rowSecurityProblems, schemaProblems } from "../schema/problems.ts";
import { unusable } from "../schema/readiness.ts";
import {
  compareMigrations,
  type MigrationStatus,
  migrationChecksum,
  namesIn,
  readRecordedMigrations,
  recordAccess,
} from "../schema/recorded.ts";
import { APPLICATION_REQUIREMENTS } from "../schema/requirements.ts";
import { RECORD_TABLE } from "./record-table.ts";

/** What a migration run works with; `known` and `lockTimeoutMs` have defaults that only tests change. */
export type MigrateDependencies = {
  sql: postgres.Sql;
  /** Called with the name of each migration as soon as it is committed. */
  onApplied?: (name: string) => void;
  known?: readonly Migration[];
  /** How long a migration may wait for a table that the application is using. */
  lockTimeoutMs?: number;
};

// One migration at a time in a database; the lock ends with the transaction, so it also works through a pooler.
const LOCK_KEY = 7_317_120_431;
const LOCK_TIMEOUT_MS = 15_000;
const DEADLOCK = "40P01";
const DEADLOCK_TRIES = 5;

/**
 * Every migration with its state; writes nothing.
 *
 * Errors: DATABASE_GRANT_MISSING when the login may not read the record.
 */
export async function migrationStatus({ sql, known }: MigrateDependencies): Promise<MigrationStatus[]> {
  const [record] = await sql<[{ login: string; exists: boolean; readable: boolean; visible: boolean }]>`
    select current_user as login, a.* from (${recordAccess(sql)}) as a`;
  if (record.exists && !(record.readable && record.visible))
    throw new OpsError({
      code: "DATABASE_GRANT_MISSING",
      message: `Cannot read the record of migrations: public.opsctl_migrations is closed to ${record.login}`,
      hint: `Connect as the owner, or: grant service_role to "${record.login}";`,
    });
  return compareMigrations(record.exists ? await readRecordedMigrations(sql) : [], known);
}

/**
 * Applies every missing migration, each in a transaction of its own, and returns the state afterwards.
 *
 * Shape:  `applied` names what this run applied; a run at the same time may have applied others.
 * Errors: MIGRATION_EDITED, MIGRATION_UNKNOWN, DATABASE_SCHEMA_MISSING, DATABASE_GRANT_MISSING and
 *         DATABASE_ROW_SECURITY before anything is applied; MIGRATION_FAILED with the file's name and the SQL state.
 */
export async function applyMigrations(
  dependencies: MigrateDependencies,
): Promise<{ applied: string[]; migrations: MigrationStatus[] }> {
  const known = dependencies.known ?? MIGRATIONS;
  const before = await migrationStatus(dependencies);
  refuseForeignHistory(before);
  const applied: string[] = [];
  if (before.some((migration) => migration.state === "pending")) {
    await requirePrerequisites(dependencies.sql);
    for (const migration of known) {
      if (await applyDespiteDeadlocks(dependencies, migration, known)) {
        applied.push(migration.name);
        dependencies.onApplied?.(migration.name);
      }
    }
  }
  return { applied, migrations: await migrationStatus(dependencies) };
}

/** Applies one migration, anew after each deadlock with the application; false when it was applied already. */
async function applyDespiteDeadlocks(
  dependencies: MigrateDependencies,
  migration: Migration,
  known: readonly Migration[],
): Promise<boolean> {
  for (let left = DEADLOCK_TRIES; ; left -= 1) {
    try {
      return await applyOne(dependencies, migration, known);
    } catch (error) {
      if ((error as { code?: unknown } | null)?.code !== DEADLOCK || left === 1)
        throw migrationError(migration, error);
    }
  }
}

/** One try; its errors are the driver's own. */
async function applyOne(
  dependencies: MigrateDependencies,
  migration: Migration,
  known: readonly Migration[],
): Promise<boolean> {
  const { sql, lockTimeoutMs = LOCK_TIMEOUT_MS } = dependencies;
  return await sql.begin(async (tx) => {
    await liftSessionLimits(tx);
    await tx.unsafe(`select pg_advisory_xact_lock(${LOCK_KEY})`).simple();
    // A migration that waits for a busy table makes every later statement on it wait: so it gives up instead.
    await tx.unsafe(`set local lock_timeout = ${Math.trunc(lockTimeoutMs)}`).simple();
    await tx.unsafe(RECORD_TABLE).simple();
    // Read again under the lock: another run may have applied it meanwhile.
    const status = compareMigrations(await readRecordedMigrations(tx), known);
    refuseForeignHistory(status);
    if (status.find((row) => row.version === migration.version)?.state === "applied") return false;
    await tx`
      insert into public.opsctl_migrations (version, name, checksum)
      values (${migration.version}, ${migration.name}, ${migrationChecksum(migration)})`;
    await tx.unsafe(migration.sql).simple();
    return true;
  });
}

function refuseForeignHistory(migrations: readonly MigrationStatus[]): void {
  const edited = namesIn(migrations, "edited");
  if (edited.length > 0)
    throw new OpsError({
      code: "MIGRATION_EDITED",
      message: `Cannot migrate: ${edited.join(", ")} was applied from another text than this opsctl carries`,
      hint: "A released migration is never edited: use the opsctl that applied it, or a newer one. Nothing was applied",
    });
  const unknown = namesIn(migrations, "unknown");
  if (unknown.length > 0)
    throw new OpsError({
      code: "MIGRATION_UNKNOWN",
      message: `Cannot migrate: the database has ${unknown.join(", ")}, which this opsctl does not know`,
      hint: "A newer opsctl migrated this database: use that one. Nothing was applied",
    });
}

/** Refuses before the first change and names everything that is missing. */
async function requirePrerequisites(sql: postgres.Sql): Promise<void> {
  // The migrating login need not read as the weekly login does, but every table and column must exist.
  const catalog = await readCatalog(sql, {
    requirements: APPLICATION_REQUIREMENTS,
    functions: [],
    owner: "login",
  });
  const owned = {
    ...catalog,
    grants: catalog.grants.filter(({ side }) => side === "owner"),
    hiddenTables: catalog.hiddenTables.filter(({ side }) => side === "owner"),
  };
  const problems = [
    [...platformProblems(catalog), ...schemaProblems(catalog)],
    grantProblems(owned),
    rowSecurityProblems(owned),
  ].find(({ length }) => length > 0);
  if (problems?.[0] === undefined) return;
  throw new OpsError({
    code: problems[0].code,
    message: unusable(...problems.map(({ reason }) => reason)),
    hint: [...new Set(problems.map(({ hint }) => hint))].join("\n"),
  });
}

function migrationError(migration: Migration, error: unknown): unknown {
  const { sqlState } = classifyDatabaseError(error);
  if (sqlState === undefined) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new OpsError({
    code: "MIGRATION_FAILED",
    message: `Cannot apply ${migration.name}: SQL state ${sqlState}, ${reason}`,
    hint:
      sqlState === "55P03" || sqlState === DEADLOCK
        ? "A table is in use: run migrate again when the application is quiet. Nothing of this file was kept"
        : "Nothing of this file was kept; the files before it are applied",
    cause: error,
  });
}
