import { OWNER_VARIABLE } from "../platform/config/owner-login.ts";
import { OpsError } from "../platform/errors.ts";

/** What a login that does not own the schema runs into. */
const NOT_OWNER: readonly string[] = [
  "DATABASE_GRANT_MISSING",
  "DATABASE_ROW_SECURITY",
  "DATABASE_PERMISSION_DENIED",
];
/** `insufficient_privilege`, as a migration that failed names it. */
const DENIED = /^Cannot apply .*: SQL state 42501\b/;
const AS_OWNER = `Migrate as the owner of the schema: opsctl secret set ${OWNER_VARIABLE} asks for that login`;

/**
 * A failure of a migration whose advice begins with the owner's login, where `variable` had another one.
 *
 * Behaviour: what the login lacks stands behind it, for a DATABASE_URL that is the owner's. A weekly login that were
 *            given these grants would have more than it needs, and still own nothing.
 */
export function suggestOwner(error: OpsError, variable: string): OpsError {
  const { code, message, hint, cause } = error;
  const isNotOwner = NOT_OWNER.includes(code) || (code === "MIGRATION_FAILED" && DENIED.test(message));
  if (variable === OWNER_VARIABLE || !isNotOwner) return error;
  const otherwise = hint === undefined ? "" : `\nWhere ${variable} is the owner's already:\n${hint}`;
  return new OpsError({ code, message, hint: `${AS_OWNER}${otherwise}`, cause });
}
