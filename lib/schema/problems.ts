import type { Catalog, MissingGrant } from "./catalog.ts";
import { type MigrationStatus, namesIn } from "./recorded.ts";
import { FUNCTION_REQUIREMENTS } from "./requirements.ts";

/**
 * One reason why opsctl cannot work on a database.
 *
 * Shape: `reason` is the fault alone; `hint` is one SQL statement for grants and row security, else what to run.
 */
export type SchemaProblem = {
  code:
    | "DATABASE_NOT_MIGRATED"
    | "DATABASE_SCHEMA_MISSING"
    | "DATABASE_GRANT_MISSING"
    | "DATABASE_ROW_SECURITY";
  reason: string;
  hint: string;
};

const POSTGRES_16 = 160_000;
const MIGRATE = "Run opsctl migrate, with the login of the schema's owner";
const OTHER_VERSION = "Use the version of opsctl that migrated this database, or a newer one";
const APPLICATION =
  "Apply the application's own migrations to this database, or correct the URL of the database";

/** Functions, tables and columns of opsctl's that do not exist, and migrations that are pending, edited or unknown. */
export function migrationProblems(catalog: Catalog, migrations: readonly MigrationStatus[]): SchemaProblem[] {
  const isEmpty = catalog.missingFunctions.length === FUNCTION_REQUIREMENTS.length;
  const pending = namesIn(migrations, "pending").join(", ");
  // A pending migration says more than what it would bring.
  const missing = isEmpty || pending === "" ? missingObjects(catalog).join(", ") : "";
  const found = [
    {
      names: missing,
      reason: isEmpty ? "opsctl's tables and functions are missing" : `missing ${missing}`,
      hint: MIGRATE,
    },
    { names: missing === "" ? pending : "", reason: `not migrated to ${pending}`, hint: MIGRATE },
    ...(["edited", "unknown"] as const).map((state) => {
      const names = namesIn(migrations, state).join(", ");
      const how = state === "edited" ? "applied from another text" : "migrated by another opsctl to";
      return { names, reason: `${how} ${names}`, hint: OTHER_VERSION };
    }),
  ];
  return found
    .filter(({ names }) => names !== "")
    .map(({ reason, hint }) => ({ code: "DATABASE_NOT_MIGRATED", reason, hint }));
}

/** Functions and tables of opsctl's that do not exist; where all are there, the columns that do not. */
function missingObjects({ missingFunctions, missing }: Catalog): string[] {
  const own = missing.filter(({ origin }) => origin === "opsctl");
  const objects = [
    ...missingFunctions.map((name) => `function public.${name}`),
    ...own.filter(({ columns }) => columns === null).map(({ table }) => `table public.${table}`),
  ];
  if (objects.length > 0) return objects;
  return own.flatMap(({ table, columns }) => columns?.map((name) => `column public.${table}.${name}`) ?? []);
}

/** Tables and columns of the application that opsctl needs and the database does not have, one problem each. */
export function schemaProblems({ missing }: Catalog): SchemaProblem[] {
  return missing
    .filter(({ origin }) => origin === "application")
    .map(({ table, columns }) => ({
      code: "DATABASE_SCHEMA_MISSING",
      reason: `table public.${table} ${columns === null ? "is missing" : `lacks ${columns.join(", ")}`}`,
      hint: APPLICATION,
    }));
}

/** What a new database lacks for opsctl's migrations: the roles and auth.uid() of a hosted PostgreSQL. */
export function platformProblems({ missingRoles, missingAuthUid }: Catalog): SchemaProblem[] {
  const code = "DATABASE_SCHEMA_MISSING" as const;
  const roles = missingRoles.map((role) => ({
    code,
    reason: `role ${role} is missing`,
    hint: `create role ${role} nologin${role === "service_role" ? " bypassrls" : ""};`,
  }));
  const hint =
    "Create auth.uid() as the hosting platform has it: it returns the id of the signed-in user as uuid";
  return missingAuthUid ? [...roles, { code, reason: "function auth.uid() is missing", hint }] : roles;
}

/** Privileges that the login or the functions' owner lacks, with the statement that grants each. */
export function grantProblems(catalog: Catalog): SchemaProblem[] {
  const { login, isService, executeGrants, hiddenTables } = catalog;
  // A login that cannot call the functions, or sees no row of opsctl's tables, is not the owner: membership brings
  // both.
  const isBlind = hiddenTables.some(({ side, origin }) => side === "login" && origin === "opsctl");
  const needsMembership = isService === false && (isBlind || executeGrants.length > 0);
  const loginRole = needsMembership || isService === true ? "service_role" : login;
  const isNeeded = (serviceRoleHas: boolean) => !(needsMembership && serviceRoleHas);
  const lacking = (role: string, what: string, grant: string) =>
    problem(`${role} lacks ${what}`, `grant ${grant} to ${identifier(role)};`);
  return [
    ...catalog.schemaGrants.map(({ role, schema, privilege }) =>
      lacking(role, `${privilege} on schema ${schema}`, `${privilege.toLowerCase()} on schema ${schema}`),
    ),
    ...(needsMembership ? [problem(`${login} is no member of service_role`, membershipHint(catalog))] : []),
    ...executeGrants
      .filter(({ serviceRoleHas }) => isNeeded(serviceRoleHas))
      .map(({ name }) =>
        lacking(loginRole, `EXECUTE on public.${name}`, `execute on function public.${name}`),
      ),
    ...catalog.grants
      .filter(({ side, serviceRoleHas }) => side === "owner" || isNeeded(serviceRoleHas))
      .map((grant) => {
        const { side, role, table, columns, privilege } = grant;
        const what = `${privilege} on public.${table} (${columns.join(", ")})`;
        return lacking(side === "login" ? loginRole : role, what, `${granted(grant)} on public.${table}`);
      }),
  ];
}

/** Tables whose rows would silently stay hidden from the login or from the functions' owner. */
export function rowSecurityProblems({ hiddenTables }: Catalog): SchemaProblem[] {
  // A login that sees no row of opsctl's own tables lacks the membership, which `grantProblems` reports.
  const hidden = hiddenTables.filter(({ side, origin }) => side === "owner" || origin === "application");
  return hidden.map(({ role, side, isViewOwner, table }) => {
    const owner = `${role}, who owns the ${isViewOwner ? "view" : "functions"}`;
    const from = side === "login" && !isViewOwner ? `the login ${role}` : owner;
    const reason = `row security hides rows of public.${table} from ${from}`;
    return { code: "DATABASE_ROW_SECURITY", reason, hint: `alter role ${identifier(role)} bypassrls;` };
  });
}

function problem(reason: string, hint: string): SchemaProblem {
  return { code: "DATABASE_GRANT_MISSING", reason, hint };
}

function membershipHint({ login, serverVersion, isServiceMember }: Catalog): string {
  const role = identifier(login);
  if (serverVersion >= POSTGRES_16) return `grant service_role to ${role} with inherit true;`;
  return isServiceMember ? `alter role ${role} inherit;` : `grant service_role to ${role};`;
}

/** The whole table when nothing is granted yet, else only the columns that are missing. */
function granted({ privilege, columns, isWhole }: MissingGrant): string {
  const word = privilege.toLowerCase();
  return isWhole ? word : `${word} (${columns.map(identifier).join(", ")})`;
}

function identifier(name: string): string {
  return /^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`;
}
