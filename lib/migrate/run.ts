import type postgres from "postgres";
import { OWNER_VARIABLE } from "../platform/config/owner-login.ts";
import { classifyDatabaseError } from "../platform/database/error.ts";
import { liftSessionLimits } from "../platform/database/session-limits.ts";
import { OpsError } from "../platform/errors.ts";
import { readCatalog } from "../schema/catalog.ts";
import {
  compareMigrations,
  MIGRATIONS,
  type Migration,
  type MigrationStatus,
  migrationChecksum,
  namesIn,
  readRecordedMigrations,
  recordAccess,
} from "../schema/migrations.ts";
import { catalogProblems, unusable } from "../schema/readiness.ts";
import { APPLICATION_TABLES } from "../schema/requirements.ts";

/** The dependencies of a migration run; `known` and `lockTimeoutMs` have defaults that only tests change. */
export type MigrateDependencies = {
  sql: postgres.Sql;
  known?: readonly Migration[];
  /** How long a migration may wait for a table that the application is using. */
  lockTimeoutMs?: number;
};

// One migration at a time in a database; the lock ends with the transaction, so it also works through a pooler.
const LOCK_KEY = 7_317_120_431;
const LOCK_TIMEOUT_MS = 15_000;
const INSUFFICIENT_PRIVILEGE = "42501";
const TABLE_IN_USE: readonly unknown[] = ["55P03", "40P01"];

/** Makes the record of applied migrations where it is missing; only the migrating login may change it. */
const RECORD_TABLE = `
do $$ begin
  if to_regclass('public.opsctl_migrations') is not null then return; end if;
  create table public.opsctl_migrations (
    version    integer primary key,
    name       text not null unique,
    checksum   text not null check (checksum ~ '^[0-9a-f]{64}$'),
    applied_at timestamptz not null default now()
  );
  comment on table public.opsctl_migrations is 'The SQL files that opsctl migrate applied, with the checksum of their text.';
  revoke all on table public.opsctl_migrations from public, anon, authenticated, service_role;
  grant select on table public.opsctl_migrations to service_role;
  alter table public.opsctl_migrations enable row level security;
  create policy opsctl_migrations_service_reads on public.opsctl_migrations for select to service_role using (true);
end $$;`;

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
      hint: "Connect as the owner, or: grant service_role to <login>;",
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
  if (before.some(({ state }) => state === "pending")) {
    await requirePrerequisites(dependencies.sql);
    for (const migration of known)
      if (await applyOne(dependencies, migration, known)) applied.push(migration.name);
  }
  return { applied, migrations: await migrationStatus(dependencies) };
}

/** Applies one migration; false when it was applied already. */
async function applyOne(
  { sql, lockTimeoutMs = LOCK_TIMEOUT_MS }: MigrateDependencies,
  migration: Migration,
  known: readonly Migration[],
): Promise<boolean> {
  const transaction = sql.begin(async (tx) => {
    await liftSessionLimits(tx);
    await tx.unsafe(`select pg_advisory_xact_lock(${LOCK_KEY})`).simple();
    // While a migration waits for a table, every later statement on that table waits too.
    await tx.unsafe(`set local lock_timeout = ${Math.trunc(lockTimeoutMs)}`).simple();
    // In the first migration's transaction: nobody sees the table before its privileges are revoked.
    await tx.unsafe(RECORD_TABLE).simple();
    // Read again under the lock: another run may have applied it meanwhile.
    const status = compareMigrations(await readRecordedMigrations(tx), known);
    refuseForeignHistory(status);
    const { version, name } = migration;
    if (status.find((row) => row.version === version)?.state === "applied") return false;
    await tx`
      insert into public.opsctl_migrations (version, name, checksum)
      values (${version}, ${name}, ${migrationChecksum(migration)})`;
    await tx.unsafe(migration.sql).simple();
    return true;
  });
  return await transaction.catch((error: unknown) => {
    throw migrationError(migration, error);
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

/** Refuses before the first change, and names everything of one kind that is missing. */
async function requirePrerequisites(sql: postgres.Sql): Promise<void> {
  const all = catalogProblems(await readCatalog(sql, APPLICATION_TABLES, []));
  const [first] = all;
  if (first === undefined) return;
  const problems = all.filter(({ code }) => code === first.code);
  throw new OpsError({
    code: first.code,
    message: unusable(...problems.map(({ reason }) => reason)),
    hint: [...new Set(problems.map(({ hint }) => hint))].join("\n"),
  });
}

function migrationError({ name }: Migration, error: unknown): unknown {
  const { sqlState } = classifyDatabaseError(error);
  if (sqlState === undefined) return error;
  const hint = TABLE_IN_USE.includes(sqlState)
    ? "A table is in use: run migrate again when the application is quiet. Nothing of this file was kept"
    : "Nothing of this file was kept; the files before it are applied";
  const message = `Cannot apply ${name}: SQL state ${sqlState}, ${(error as Error).message}`;
  return new OpsError({ code: "MIGRATION_FAILED", message, hint, cause: error });
}

/** The errors of a login that does not own the schema. */
const NOT_OWNER = ["DATABASE_GRANT_MISSING", "DATABASE_ROW_SECURITY", "DATABASE_PERMISSION_DENIED"];

/**
 * The failure of a migration, with the advice to use the owner's login if `variable` had another one.
 *
 * Behaviour: the grants that the login lacks follow, for a DATABASE_URL that is the owner's. A weekly login with these
 *            grants would have more than it needs, and still own nothing.
 */
export function suggestOwner(error: OpsError, variable: string): OpsError {
  const { code, message, hint, cause } = error;
  const isDenied = classifyDatabaseError(cause).sqlState === INSUFFICIENT_PRIVILEGE;
  if (variable === OWNER_VARIABLE || !(NOT_OWNER.includes(code) || isDenied)) return error;
  const advice = `Migrate as the owner of the schema: opsctl secret set ${OWNER_VARIABLE} asks for that login`;
  const otherwise = hint === undefined ? "" : `\nWhere ${variable} is the owner's already:\n${hint}`;
  return new OpsError({ code, message, hint: `${advice}${otherwise}`, cause });
}
