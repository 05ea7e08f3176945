import type postgres from "postgres";
import { readCatalog } from "./catalog.ts";
import {
  grantProblems,
  migrationProblems,
  rowSecurityProblems,
  type SchemaProblem,
  schemaProblems,
} from "./problems.ts";
import { compareMigrations, readRecordedMigrations } from "./recorded.ts";
import { APPLICATION_REQUIREMENTS, FUNCTION_REQUIREMENTS, OWN_REQUIREMENTS } from "./requirements.ts";

/** One reason why opsctl cannot work on a database, as a message, with the statement or command that fixes it. */
export type ReadinessProblem = Omit<SchemaProblem, "reason"> & { message: string };

/**
 * Everything that keeps opsctl from working on this database as this login, all at once; empty when it is ready.
 *
 * Behaviour: two round trips that read the catalog only; nothing is locked or written. A database whose SQL files were
 *            applied manually has no record of them: there the functions decide.
 * Errors:    the driver's own, when the database cannot be reached.
 */
export async function checkReadiness(sql: postgres.Sql): Promise<ReadinessProblem[]> {
  const catalog = await readCatalog(sql, {
    requirements: [...APPLICATION_REQUIREMENTS, ...OWN_REQUIREMENTS],
    functions: FUNCTION_REQUIREMENTS,
    owner: "present",
  });
  const { exists, readable, visible } = catalog.record;
  const migrations = readable && visible ? compareMigrations(await readRecordedMigrations(sql)) : [];
  const problems = [
    ...migrationProblems(catalog, migrations),
    ...schemaProblems(catalog),
    ...grantProblems(catalog),
    ...rowSecurityProblems(catalog),
  ];
  if (exists && !readable && problems.length === 0)
    problems.push({
      code: "DATABASE_GRANT_MISSING",
      reason: `${catalog.login} lacks SELECT on public.opsctl_migrations`,
      hint: "grant select on public.opsctl_migrations to service_role;",
    });
  return problems.map(({ code, reason, hint }) => ({ code, message: unusable(reason), hint }));
}

/** The message of one or several problems. */
export function unusable(...reasons: readonly string[]): string {
  return `Cannot use the database: ${reasons.join("; ")}`;
}
