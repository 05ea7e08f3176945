import type postgres from "postgres";
import { type Catalog, readCatalog } from "./catalog.ts";
import { compareMigrations, type MigrationStatus, namesIn, readRecordedMigrations } from "./migrations.ts";
import { APPLICATION_TABLES, FUNCTIONS, OWN_TABLES } from "./requirements.ts";

/** One reason why opsctl cannot work on a database; `hint` is SQL for grants and row security, else what to run. */
export type ReadinessProblem = { code: Code; message: string; hint: string };

type Problem = { code: Code; reason: string; hint: string };
type Code =
  | "DATABASE_NOT_MIGRATED"
  | "DATABASE_SCHEMA_MISSING"
  | "DATABASE_GRANT_MISSING"
  | "DATABASE_ROW_SECURITY";

const POSTGRES_16 = 160_000;
const MIGRATE = "Run opsctl migrate, with the login of the schema's owner";
const OTHER_VERSION = "Use the version of opsctl that migrated this database, or a newer one";
const APPLICATION =
  "Apply the application's own migrations to this database, or correct the URL of the database";
const PLATFORM =
  "Create what a hosted PostgreSQL has: the roles anon, authenticated and service_role (nologin, the last one bypassrls), " +
  "and auth.uid(), which returns the id of the signed-in user as uuid";

/**
 * Everything that keeps opsctl from working on this database as this login; empty when it is ready.
 *
 * Behaviour: two round trips that read the catalog only; nothing is locked or written. A database whose SQL files were
 *            applied manually has no record of them: there the functions decide.
 * Errors:    the driver's own, when the database cannot be reached.
 */
export async function checkReadiness(sql: postgres.Sql): Promise<ReadinessProblem[]> {
  const catalog = await readCatalog(sql, [...APPLICATION_TABLES, ...OWN_TABLES], FUNCTIONS);
  const { exists, readable, visible } = catalog.record;
  const migrations = readable && visible ? compareMigrations(await readRecordedMigrations(sql)) : [];
  const problems = [...migrationProblems(catalog, migrations), ...catalogProblems(catalog)];
  if (problems.length === 0 && exists && !readable) {
    const hint = "grant select on public.opsctl_migrations to service_role;";
    problems.push(lacks(`${catalog.login} lacks SELECT on public.opsctl_migrations`, hint));
  }
  return problems.map(({ code, reason, hint }) => ({ code, message: unusable(reason), hint }));
}

/** The message of one or several problems. */
export function unusable(...reasons: readonly string[]): string {
  return `Cannot use the database: ${reasons.join("; ")}`;
}

/** What of opsctl does not exist, and migrations that are pending, edited or unknown. */
function migrationProblems(catalog: Catalog, migrations: readonly MigrationStatus[]): Problem[] {
  const found = (reason: string, hint: string): Problem => ({ code: "DATABASE_NOT_MIGRATED", reason, hint });
  const named = (state: MigrationStatus["state"], what: string, hint: string) => {
    const names = namesIn(migrations, state);
    return names.length === 0 ? [] : [found(`${what} ${names.join(", ")}`, hint)];
  };
  if (!catalog.isMigrated) return [found("opsctl's tables and functions are missing", MIGRATE)];
  const pending = named("pending", "not migrated to", MIGRATE);
  const missing = catalog.missing.filter(({ maker }) => maker === "opsctl").map(reasonOf);
  return [
    // A pending migration says more than what it would bring.
    ...(pending.length > 0 || missing.length === 0 ? pending : [found(missing.join("; "), MIGRATE)]),
    ...named("edited", "applied from another text", OTHER_VERSION),
    ...named("unknown", "migrated by another opsctl to", OTHER_VERSION),
  ];
}

/** What others should have made and does not exist, then missing grants, then tables whose rows stay hidden. */
export function catalogProblems(catalog: Catalog): Problem[] {
  const { login, isService, serverVersion } = catalog;
  const isOfLogin = ({ side }: { side: string }) => side === "login";
  const isBlind = catalog.hidden.some((row) => isOfLogin(row) && row.maker === "opsctl");
  const cannotCall = catalog.lacking.some((row) => isOfLogin(row) && row.privilege === "EXECUTE");
  // Such a login is not the owner: the membership brings what it lacks.
  const needsMembership = isService === false && (isBlind || cannotCall);
  const missing = catalog.missing.filter(({ maker }) => maker !== "opsctl");
  const lacking = catalog.lacking.filter((row) => !(needsMembership && isOfLogin(row)));
  const hidden = catalog.hidden.filter((row) => !(isOfLogin(row) && row.maker === "opsctl"));
  const membership =
    serverVersion >= POSTGRES_16
      ? "grant service_role to <login> with inherit true;"
      : "grant service_role to <login>; alter role <login> inherit;";
  return [
    ...missing.map((row): Problem => {
      const hint = row.maker === "platform" ? PLATFORM : APPLICATION;
      return { code: "DATABASE_SCHEMA_MISSING", reason: reasonOf(row), hint };
    }),
    ...(needsMembership ? [lacks(`${login} is no member of service_role`, membership)] : []),
    ...lacking.map(({ side, role, privilege, object, columns }) => {
      const [grantee, named] =
        side === "login" && isService === true ? ["service_role", "service_role"] : [role, `<${side}>`];
      const list = columns === null ? "" : ` (${columns.join(", ")})`;
      const statement = `grant ${privilege.toLowerCase()}${list} on ${object} to ${named};`;
      return lacks(`${grantee} lacks ${privilege} on ${object}${list}`, statement);
    }),
    ...hidden.map(({ side, role, isViewOwner, table }): Problem => {
      const owner = `${role}, who owns the ${isViewOwner ? "view" : "functions"}`;
      const from = side === "login" && !isViewOwner ? `the login ${role}` : owner;
      const reason = `row security hides rows of public.${table} from ${from}`;
      return {
        code: "DATABASE_ROW_SECURITY",
        reason,
        hint: `alter role <${isViewOwner ? "owner" : side}> bypassrls;`,
      };
    }),
  ];
}

function lacks(reason: string, hint: string): Problem {
  return { code: "DATABASE_GRANT_MISSING", reason, hint };
}

function reasonOf({ object, columns }: Catalog["missing"][number]): string {
  return columns === null ? `${object} is missing` : `${object} lacks ${columns.join(", ")}`;
}
