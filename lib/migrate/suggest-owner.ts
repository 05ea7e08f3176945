import { OWNER_VARIABLE } from "../platform/config/owner-login.ts";
import { classifyDatabaseError } from "../platform/database/error.ts";
import { OpsError } from "../platform/errors.ts";

/** The errors of a login that does not own the schema. */
const NOT_OWNER: readonly string[] = [
  "DATABASE_GRANT_MISSING",
  "DATABASE_ROW_SECURITY",
  "DATABASE_PERMISSION_DENIED",
];
const INSUFFICIENT_PRIVILEGE = "42501";
const AS_OWNER = `Migrate as the owner of the schema: opsctl secret set ${OWNER_VARIABLE} asks for that login`;

/**
 * The failure of a migration with the advice to use the owner's login, where `variable` had another one.
 *
 * Behaviour: the grants that the login lacks follow, for a DATABASE_URL that is the owner's. A weekly login with these
 *            grants would have more than it needs, and still own nothing.
 */
export function suggestOwner(error: OpsError, variable: string): OpsError {
  const { code, message, hint, cause } = error;
  const isNotOwner = NOT_OWNER.includes(code) || isDenied(cause);
  if (variable === OWNER_VARIABLE || !isNotOwner) return error;
  const otherwise = hint === undefined ? "" : `\nWhere ${variable} is the owner's already:\n${hint}`;
  return new OpsError({ code, message, hint: `${AS_OWNER}${otherwise}`, cause });
}

/** Whether PostgreSQL refused a statement of a migration for lack of a privilege. */
function isDenied(cause: unknown): boolean {
  return cause !== undefined && classifyDatabaseError(cause).sqlState === INSUFFICIENT_PRIVILEGE;
}
