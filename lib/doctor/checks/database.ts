import type postgres from "postgres";
import {
  type CheckResult,
  command,
  fail,
  failure,
  notChecked,
  pass,
  SET_CLOCK,
  warn,
} from "../../health/result.ts";
import { loadSettings } from "../../platform/config/load.ts";
import { type DatabaseLogin, findOwnerLogin } from "../../platform/config/owner-login.ts";
import { OpsError } from "../../platform/errors.ts";
import type { Environment } from "../../platform/secrets/adapter.ts";
import { compareMigrations, MIGRATIONS, readRecordedMigrations } from "../../schema/migrations.ts";
import { checkReadiness } from "../../schema/readiness.ts";
import type { Check, CheckContext, CommandName, DoctorDependencies } from "../context.ts";
import { withoutSettings } from "./settings.ts";

/** As the server numbers itself: version 15.0. */
const OLDEST_VERSION = 150_000;
/** How far the clocks of database and host may be apart before it is a warning, and a fault. */
const CLOCK_WARN_MS = 2_000;
const CLOCK_FAIL_MS = 60_000;
const READ_ONLY = fail(
  "DATABASE_READ_ONLY",
  "the database accepts no changes: transactions are read-only",
  "Connect to the primary server; if it is, reset default_transaction_read_only of the database and the login",
);
const NOT_OPENED = notChecked("PREREQUISITE_FAILED", "the database cannot be opened, see database");
const INCOMPLETE = notChecked("PREREQUISITE_FAILED", "tables or functions are missing, see database schema");
const SET_CLOCKS = { ...SET_CLOCK, text: "On the host and on the database server:" };

/** A check of a command's database, which gets the open connection, as `withDatabase` has it. */
export function checkOfDatabase(
  of: CommandName,
  name: string,
  use: (sql: postgres.Sql, context: CheckContext) => Promise<CheckResult[]>,
): Check {
  const run = (context: CheckContext) => withDatabase(of, context, (sql) => use(sql, context));
  return { command: of, name, service: "the database", run };
}

/** Whether the database can be reached, its version, and whether its clock agrees with the host's. */
export function databaseCheck(of: CommandName): Check {
  const run: Check["run"] = async (context) => {
    const login = await loginOf(of, context);
    if (login.status !== "ok") return withoutSettings(login);
    const { sql } = await context.database(login.value.url, login.value.variable);
    const beforeMs = context.dependencies.nowMs();
    const [row] = await sql<[{ version: number; isReadOnly: boolean; clock: string }]>`
      select current_setting('server_version_num')::integer as version,
             current_setting('transaction_read_only') = 'on' as "isReadOnly",
             (extract(epoch from clock_timestamp()) * 1000)::bigint::text as clock`;
    // The database looked at its clock at some moment between the two: only a time outside of them is wrong.
    const apartMs = Math.max(beforeMs - Number(row.clock), Number(row.clock) - context.dependencies.nowMs());
    return [
      row.isReadOnly ? READ_ONLY : pass("the database answers"),
      versionResult(row.version),
      clockResult(apartMs),
    ];
  };
  return { command: of, name: "database", service: "the database", run };
}

function versionResult(version: number): CheckResult {
  const server = `PostgreSQL ${Math.floor(version / 10_000)}`;
  if (version >= OLDEST_VERSION) return pass(server);
  return fail("DATABASE_TOO_OLD", `${server} is older than 15`, "Upgrade the database server");
}

function clockResult(apartMs: number): CheckResult {
  if (apartMs <= CLOCK_WARN_MS) return pass("the clocks of database and host agree");
  const reason = `the clocks of database and host are ${(apartMs / 1000).toFixed(1)} s apart`;
  return (apartMs > CLOCK_FAIL_MS ? fail : warn)("CLOCK_WRONG", reason, SET_CLOCKS);
}

/** Whether tables, functions, grants and row access are as the command needs them. */
export function readinessCheck(of: CommandName): Check {
  return checkOfDatabase(of, "database schema", async (sql, context) => {
    const problems = await readinessOf(of, context, sql);
    return problems.length > 0 ? problems.map(failure) : [pass("tables, functions and grants are in place")];
  });
}

function readinessOf(of: CommandName, context: CheckContext, sql: postgres.Sql) {
  return context.once(`readiness ${of}`, () => checkReadiness(sql));
}

/**
 * The results of `use`, which gets the open database of the command.
 *
 * Behaviour: one cause is reported once. When the database cannot be opened, the check `database` says why; when a table
 *            or function is missing, the check `database schema` does, which `migrate` does not have.
 * Errors:    the database's, with the variable of the URL in them.
 */
export async function withDatabase(
  of: CommandName,
  context: CheckContext,
  use: (sql: postgres.Sql) => Promise<CheckResult[]>,
): Promise<CheckResult[]> {
  const login = await loginOf(of, context);
  if (login.status !== "ok") return withoutSettings(login);
  const { url, variable } = login.value;
  const database = await context.database(url, variable).catch(() => null);
  if (database === null) return [NOT_OPENED];
  try {
    return await use(database.sql);
  } catch (error) {
    const { databaseError } = await import("../../platform/database/error.ts");
    const known =
      error instanceof OpsError ? error : databaseError(error, "read the database", { setting: variable });
    const isMissing = known.code === "DATABASE_OBJECT_MISSING" && of !== "migrate";
    const problems = isMissing ? await readinessOf(of, context, database.sql).catch(() => []) : [];
    if (problems.length > 0) return [INCOMPLETE];
    throw known;
  }
}

/** The database login of a command; a secret command that has it is run once for all checks. */
function loginOf(of: CommandName, context: CheckContext) {
  return context.once(`login ${of}`, () =>
    context.settings(of, of === "migrate" ? ownerLogin : (env) => urlLogin(of, env)),
  );
}

type Login = Pick<DatabaseLogin, "url" | "variable">;

async function urlLogin(of: CommandName, env: Environment): Promise<Login> {
  const { DATABASE_URL: url } = await loadSettings(of, { required: ["DATABASE_URL"] }, env);
  return { url, variable: "DATABASE_URL" };
}

/** The login of `opsctl migrate`. Errors: those of `findOwnerLogin`, and why root could not read its own secret. */
export async function ownerLogin(env: Environment, { rootsLogin }: DoctorDependencies): Promise<Login> {
  if (rootsLogin instanceof OpsError) throw rootsLogin;
  return rootsLogin ?? (await findOwnerLogin(env));
}

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
