import type postgres from "postgres";
import { loadSettings } from "../../../platform/config/load.ts";
import type { DatabaseLogin } from "../../../platform/config/owner-login.ts";
import { OpsError } from "../../../platform/errors.ts";
import type { Environment } from "../../../platform/secrets/adapter.ts";
import { MIGRATIONS } from "../../../schema/migrations.ts";
import { checkReadiness } from "../../../schema/readiness.ts";
import { compareMigrations, type MigrationStatus, readRecordedMigrations } from "../../../schema/recorded.ts";
import type { Check } from "../../context/check.ts";
import type { CheckContext } from "../../context/check-context.ts";
import { ownerLogin } from "../../context/roots-login.ts";
import { PAGE_GRANT, type PageAccess, readPageAccess } from "../../facts/page-access.ts";
import {
  type CheckResult,
  type CommandName,
  command,
  fail,
  failure,
  notChecked,
  pass,
  SET_CLOCK,
  warn,
} from "../../finding.ts";
import { withoutSettings } from "../settings/configuration.ts";

/** As the server numbers itself: version 15.0. */
const OLDEST_VERSION = 150_000;
/** How far the clocks of database and host may be apart before it is a warning, and a fault. */
const CLOCK_WARN_MS = 2_000;
const CLOCK_FAIL_MS = 60_000;

/** Whether the database can be reached, its version, and whether its clock agrees with the host's. */
export function databaseCheck(of: CommandName): Check {
  const run = (context: CheckContext) =>
    withDatabase(
      of,
      context,
      async (sql) => {
        const before = context.dependencies.nowMs();
        const [row] = await sql<[{ version: number; isReadOnly: boolean; clock: string }]>`
          select current_setting('server_version_num')::integer as version,
                 current_setting('transaction_read_only') = 'on' as "isReadOnly",
                 (extract(epoch from clock_timestamp()) * 1000)::bigint::text as clock`;
        const after = context.dependencies.nowMs();
        return [
          row.isReadOnly ? READ_ONLY : pass("the database answers"),
          versionResult(row.version),
          clockResult(Number(row.clock), { beforeMs: before, afterMs: after }),
        ];
      },
      { isToldHere: true },
    );
  return { command: of, name: "database", service: "the database", run };
}

const READ_ONLY = fail(
  "DATABASE_READ_ONLY",
  "the database accepts no changes: transactions are read-only",
  "Connect to the primary server; if it is, reset default_transaction_read_only of the database and the login",
);

/** Whether tables, functions, grants and row access are as the command needs them. */
export function readinessCheck(of: CommandName): Check {
  return {
    command: of,
    name: "database schema",
    service: "the database",
    run: (context) =>
      withDatabase(of, context, async (sql) => {
        const problems = await readinessOf(of, context, sql);
        if (problems.length > 0) return problems.map(failure);
        const [row] = await sql<[{ exists: boolean }]>`
          select to_regclass('public.opsctl_migrations') is not null as exists`;
        return [row.exists ? pass("migrations, tables, functions and grants are in place") : UNRECORDED];
      }),
  };
}

const UNRECORDED = warn(
  "DATABASE_NOT_MIGRATED",
  "tables and functions are in place, and no record of the migrations: public.opsctl_migrations does not exist",
  command("opsctl migrate"),
);

/**
 * Which migrations are applied, and whether pages may still read what the migrations granted.
 *
 * Behaviour: a pending migration is a warning, because `migrate` applies it; so is a wrong grant of a page, because no
 *            run depends on it.
 */
export function migrationsCheck(of: CommandName): Check {
  return {
    command: of,
    name: "migrations",
    service: "the database",
    run: (context) =>
      withDatabase(of, context, async (sql) => {
        const [row] = await sql<[{ exists: boolean; readable: boolean }]>`
          select to_regclass('public.opsctl_migrations') is not null as exists,
                 coalesce(has_table_privilege(to_regclass('public.opsctl_migrations'), 'select'), false) as readable`;
        if (row.exists && !row.readable)
          return [
            fail(
              "DATABASE_PERMISSION_DENIED",
              "public.opsctl_migrations may not be read",
              "Connect as the owner of the schema",
            ),
          ];
        const results = migrationResults(
          compareMigrations(row.exists ? await readRecordedMigrations(sql) : []),
        );
        return results.every(({ status }) => status === "pass")
          ? [...results, ...pageResults(await readPageAccess(sql))]
          : results;
      }),
  };
}

/** What is missing in the schema; asked once, however many checks want to know. */
function readinessOf(command: CommandName, context: CheckContext, sql: postgres.Sql) {
  return context.once(`readiness ${command}`, () => checkReadiness(sql));
}

/**
 * Whether the check `database schema` reports that something is missing.
 *
 * Behaviour: false for `migrate`, which has no such check, because it makes the schema.
 */
async function isReportedBySchemaCheck(command: CommandName, context: CheckContext): Promise<boolean> {
  const login = await context.settings(command, "database", loginOf);
  if (command === "migrate" || login.status !== "ok") return false;
  const { sql } = await context.database(login.value.url, login.value.variable);
  return await readinessOf(command, context, sql).then(
    (problems) => problems.length > 0,
    () => false,
  );
}

/**
 * The results of `use`, which gets the open database of the command; "not checked" without a valid URL.
 *
 * Behaviour: when the database cannot be opened, the check `database` says why (`isToldHere`), and all others only refer
 *            to it. When `use` fails because a table or function is missing, and the check `database schema` reports
 *            that, the result only refers to that check. So one cause is told once.
 * Errors:    the database's, with the variable of the URL in them.
 */
export async function withDatabase(
  command: CommandName,
  context: CheckContext,
  use: (sql: postgres.Sql) => Promise<CheckResult[]>,
  { isToldHere }: { isToldHere: boolean } = { isToldHere: false },
): Promise<CheckResult[]> {
  const login = await context.settings(command, "database", command === "migrate" ? ownerLogin : loginOf);
  if (login.status !== "ok") return withoutSettings(login.error);
  let isOpen = false;
  try {
    const { sql } = await context.database(login.value.url, login.value.variable);
    isOpen = true;
    return await use(sql);
  } catch (error) {
    if (!isOpen && !isToldHere)
      return [notChecked("PREREQUISITE_FAILED", "the database cannot be opened, see database")];
    const { databaseError } = await import("../../../platform/database/error.ts");
    const failure =
      error instanceof OpsError
        ? error
        : databaseError(error, "read the database", { setting: login.value.variable });
    if (failure.code === "DATABASE_OBJECT_MISSING" && (await isReportedBySchemaCheck(command, context)))
      return [notChecked("PREREQUISITE_FAILED", "tables or functions are missing, see database schema")];
    throw failure;
  }
}

/** The login of every command but `migrate`. */
async function loginOf(env: Environment): Promise<Pick<DatabaseLogin, "url" | "variable">> {
  const { DATABASE_URL: url } = await loadSettings("reports", { required: ["DATABASE_URL"] }, env);
  return { url, variable: "DATABASE_URL" };
}

/** Warns when signed-in users (the role `authenticated`) may read other columns than their page needs. */
function pageResults({ tooMuch, tooLittle }: PageAccess): CheckResult[] {
  const said = [
    ...(tooMuch.length > 0 ? [`may read ${tooMuch.join(", ")}`] : []),
    ...(tooLittle.length > 0 ? [`may not read ${tooLittle.join(", ")}`] : []),
  ];
  if (said.length === 0) return [];
  return [
    warn(
      "PAGE_GRANT_DIFFERS",
      `authenticated ${said.join(" and ")} of weekly_performance_reports`,
      command(PAGE_GRANT),
    ),
  ];
}

function versionResult(version: number): CheckResult {
  const major = Math.floor(version / 10_000);
  return version >= OLDEST_VERSION
    ? pass(`PostgreSQL ${major}`)
    : fail(
        "DATABASE_TOO_OLD",
        `PostgreSQL ${major} is too old, expected 15 or newer`,
        "Upgrade the database server",
      );
}

/** Compares the time that the database told with the host's times before and after it was asked. */
function clockResult(
  clockMs: number,
  { beforeMs, afterMs }: { beforeMs: number; afterMs: number },
): CheckResult {
  // The database looked at its clock at some moment between the two: only a time outside of them is wrong.
  const apartMs = Math.max(0, beforeMs - clockMs, clockMs - afterMs);
  const text = `the clocks of database and host are ${(apartMs / 1000).toFixed(1)} s apart`;
  const fix = { ...SET_CLOCK, text: "On the host and on the database server:" };
  if (apartMs > CLOCK_FAIL_MS) return fail("CLOCK_WRONG", text, fix);
  return apartMs > CLOCK_WARN_MS
    ? warn("CLOCK_WRONG", text, fix)
    : pass("the clocks of database and host agree");
}

function migrationResults(migrations: readonly MigrationStatus[]): CheckResult[] {
  const named = (state: MigrationStatus["state"]) =>
    migrations.filter((migration) => migration.state === state).map(({ name }) => name);
  const [pending, edited, unknown] = [named("pending"), named("edited"), named("unknown")];
  const results: CheckResult[] = [];
  if (pending.length > 0)
    results.push(warn("DATABASE_NOT_MIGRATED", `pending: ${pending.join(", ")}`, command("opsctl migrate")));
  const newer = "Use the opsctl that migrated this database, or a newer one";
  if (edited.length > 0)
    results.push(fail("MIGRATION_EDITED", `applied from another text: ${edited.join(", ")}`, newer));
  if (unknown.length > 0)
    results.push(fail("MIGRATION_UNKNOWN", `unknown to this opsctl: ${unknown.join(", ")}`, newer));
  return results.length > 0 ? results : [pass(`all ${MIGRATIONS.length} migrations are applied`)];
}
