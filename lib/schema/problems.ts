import type { Catalog, MissingGrant } from "./catalog.ts";
import type { MigrationStatus } from "./recorded.ts";
import { APPLICATION_REQUIREMENTS, FUNCTION_REQUIREMENTS, OWN_REQUIREMENTS } from "./requirements.ts";

/** One reason why opsctl cannot work on a database, and the command that mends it. */
export type ReadinessProblem = {
  code:
    | "DATABASE_NOT_MIGRATED"
    | "DATABASE_SCHEMA_MISSING"
    | "DATABASE_GRANT_MISSING"
    | "DATABASE_ROW_SECURITY";
  message: string;
  /** One SQL statement for grants and row security, else what to run. */
  hint: string;
};

const POSTGRES_16 = 160_000;

/** Functions, tables and columns of opsctl's that do not exist, and migrations that are pending, edited or unknown. */
export function migrationProblems(
  catalog: Catalog,
  migrations: readonly MigrationStatus[],
): ReadinessProblem[] {
  const problems: ReadinessProblem[] = [];
  const add = (message: string, hint: string) =>
    problems.push({ code: "DATABASE_NOT_MIGRATED", message, hint });
  const everything = catalog.missingFunctions.length === FUNCTION_REQUIREMENTS.length;
  const named = (state: MigrationStatus["state"]) =>
    migrations.filter((migration) => migration.state === state).map((migration) => migration.name);
  const pending = named("pending");
  // A pending migration says more than what it would bring.
  const missing = everything || pending.length === 0 ? missingObjects(catalog) : [];

  if (missing.length > 0)
    add(
      `Cannot use the database: ${everything ? "opsctl's tables and functions are missing" : `missing ${missing.join(", ")}`}`,
      "Run opsctl migrate, with the login of the schema's owner",
    );
  if (missing.length === 0 && pending.length > 0)
    add(
      `Cannot use the database: not migrated to ${pending.join(", ")}`,
      "Run opsctl migrate, with the login of the schema's owner",
    );
  const edited = named("edited");
  if (edited.length > 0)
    add(
      `Cannot use the database: applied from another text ${edited.join(", ")}`,
      "Use the version of opsctl that migrated this database, or a newer one",
    );
  const unknown = named("unknown");
  if (unknown.length > 0)
    add(
      `Cannot use the database: migrated by another opsctl to ${unknown.join(", ")}`,
      "Use the version of opsctl that migrated this database, or a newer one",
    );
  return problems;
}

/** Functions and tables of opsctl's that do not exist; where all are there, the columns that do not. */
function missingObjects({ missingFunctions, missingTables, missingColumns }: Catalog): string[] {
  const objects = [
    ...missingFunctions.map((name) => `function public.${name}`),
    ...missingTables.filter((m) => m.origin === "opsctl").map((m) => `table public.${m.table}`),
  ];
  if (objects.length > 0) return objects;
  return missingColumns
    .filter((missing) => missing.origin === "opsctl")
    .flatMap(({ table, columns }) => columns.map((column) => `column public.${table}.${column}`));
}

/** Tables and columns of the application that opsctl needs and the database does not have, one problem each. */
export function schemaProblems(catalog: Catalog): ReadinessProblem[] {
  const hint = "Apply the application's own migrations to this database, or correct the URL of the database";
  const tables = catalog.missingTables.filter((missing) => missing.origin === "application");
  const columns = catalog.missingColumns.filter((missing) => missing.origin === "application");
  return [
    ...tables.map((missing) => `table public.${missing.table} is missing`),
    ...columns.map((missing) => `table public.${missing.table} lacks ${missing.columns.join(", ")}`),
  ].map((what) => ({
    code: "DATABASE_SCHEMA_MISSING" as const,
    message: `Cannot use the database: ${what}`,
    hint,
  }));
}

/** What a new database lacks for opsctl's migrations: the hosted platform's roles and auth.uid(). */
export function platformProblems(catalog: Catalog): ReadinessProblem[] {
  const roles = catalog.missingRoles.map((role) => ({
    code: "DATABASE_SCHEMA_MISSING" as const,
    message: `Cannot use the database: role ${role} is missing`,
    hint: `create role ${role} nologin${role === "service_role" ? " bypassrls" : ""};`,
  }));
  if (!catalog.missingAuthUid) return roles;
  return [
    ...roles,
    {
      code: "DATABASE_SCHEMA_MISSING" as const,
      message: "Cannot use the database: function auth.uid() is missing",
      hint: "Bring the platform's auth.uid(), which answers the id of who is signed in as uuid",
    },
  ];
}

/** Privileges that the login or the functions' owner lacks, with the statement that grants each. */
export function grantProblems(catalog: Catalog): ReadinessProblem[] {
  const add = (message: string, hint: string): ReadinessProblem => ({
    code: "DATABASE_GRANT_MISSING",
    message: `Cannot use the database: ${message}`,
    hint,
  });
  // A login that cannot call the functions, or sees no row of opsctl's tables, is not the owner: membership brings
  // both.
  const isBlind = catalog.rowSecurity.some((row) => row.side === "login" && row.origin === "opsctl");
  const needsMembership = catalog.isService === false && (isBlind || catalog.executeGrants.length > 0);
  const viaService = needsMembership || catalog.isService === true;
  const grantee = (side: "login" | "owner", role: string) =>
    side === "login" && viaService ? "service_role" : role;

  const problems = catalog.schemaGrants.map((grant) =>
    add(
      `${grant.role} lacks ${grant.privilege} on schema ${grant.schema}`,
      `grant ${grant.privilege.toLowerCase()} on schema ${grant.schema} to ${identifier(grant.role)};`,
    ),
  );
  if (needsMembership)
    problems.push(add(`${catalog.login} is no member of service_role`, membershipHint(catalog)));
  for (const grant of catalog.executeGrants.filter((g) => !needsMembership || !g.serviceRoleHas)) {
    const role = grantee("login", catalog.login);
    const name = `public.${grant.name}(${grant.args})`;
    problems.push(
      add(`${role} lacks EXECUTE on ${name}`, `grant execute on function ${name} to ${identifier(role)};`),
    );
  }
  for (const grant of catalog.grants) {
    if (grant.side === "login" && needsMembership && grant.serviceRoleHas) continue;
    const role = grantee(grant.side, grant.role);
    problems.push(
      add(
        `${role} lacks ${grant.privilege} on public.${grant.table} (${grant.columns.join(", ")})`,
        `grant ${grantedColumns(grant)} on public.${grant.table} to ${identifier(role)};`,
      ),
    );
  }
  return problems;
}

/** Tables whose rows would silently stay hidden from the login or from the functions' owner. */
export function rowSecurityProblems(catalog: Catalog): ReadinessProblem[] {
  // A login that sees no row of opsctl's own tables lacks the membership, which `grantProblems` reports.
  const hidden = catalog.rowSecurity.filter((row) => row.side === "owner" || row.origin === "application");
  return hidden.map(({ role, side, isViewOwner, table }) => {
    const owner = isViewOwner ? `${role}, who owns the view` : `${role}, who owns the functions`;
    const who = side === "login" && !isViewOwner ? `the login ${role}` : owner;
    return {
      code: "DATABASE_ROW_SECURITY",
      message: `Cannot use the database: row security hides rows of public.${table} from ${who}`,
      hint: `alter role ${identifier(role)} bypassrls;`,
    };
  });
}

function membershipHint(catalog: Catalog): string {
  const login = identifier(catalog.login);
  if (catalog.serverVersion >= POSTGRES_16) return `grant service_role to ${login} with inherit true;`;
  return catalog.isServiceMember ? `alter role ${login} inherit;` : `grant service_role to ${login};`;
}

/** The whole table when nothing is granted yet, else only the columns that are missing. */
function grantedColumns(grant: MissingGrant): string {
  const wanted = [...APPLICATION_REQUIREMENTS, ...OWN_REQUIREMENTS].filter(
    (r) => r.side === grant.side && r.table === grant.table && r.privilege === grant.privilege,
  );
  const privilege = grant.privilege.toLowerCase();
  if (grant.columns.length === wanted.length) return privilege;
  return `${privilege} (${grant.columns.map(identifier).join(", ")})`;
}

function identifier(name: string): string {
  return /^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`;
}
