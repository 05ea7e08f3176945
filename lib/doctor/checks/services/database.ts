import type postgres from "postgres";
import { loadSettings } from "../../../platform/config/load.ts";
import { type DatabaseLogin, findOwnerLogin } from "../../../platform/config/owner-login.ts";
import { OpsError } from "../../../platform/errors.ts";
import type { Environment } from "../../../platform/secrets/adapter.ts";
import { checkReadiness } from "../../../schema/readiness.ts";
import type { Check } from "../../context/check.ts";
import type { CheckContext } from "../../context/check-context.ts";
import type { DoctorDependencies } from "../../context/dependencies.ts";
import {
  type CheckResult,
  type CommandName,
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
    const { databaseError } = await import("../../../platform/database/error.ts");
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
  return context.once(`login ${of}`, () => context.settings(of, of === "migrate" ? ownerLogin : urlLogin));
}

type Login = Pick<DatabaseLogin, "url" | "variable">;

async function urlLogin(env: Environment): Promise<Login> {
  const { DATABASE_URL: url } = await loadSettings("reports", { required: ["DATABASE_URL"] }, env);
  return { url, variable: "DATABASE_URL" };
}

/** The login of `opsctl migrate`. Errors: those of `findOwnerLogin`, and why root could not read its own secret. */
export async function ownerLogin(env: Environment, { rootsLogin }: DoctorDependencies): Promise<Login> {
  if (rootsLogin instanceof OpsError) throw rootsLogin;
  return rootsLogin ?? (await findOwnerLogin(env));
}
