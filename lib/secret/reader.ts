import type { KnownSecret } from "../platform/config/known-secrets.ts";
import { sudoLine } from "../platform/config/sudo-line.ts";
import { OpsError } from "../platform/errors.ts";
import { type Account, findServiceAccount, isRoot, SERVICE_ACCOUNT } from "../platform/privileges.ts";
import type { Environment } from "../platform/secrets/adapter.ts";

/** The service account of this host, null where there is none, and the account that reads a secret, null for root. */
export type Readers = { account: Account | null; reader: Account | null };

/**
 * For which account a secret is written.
 *
 * Errors: ROOT_NEEDED for any process but root's: the directories are root's; ACCOUNT_UNAVAILABLE where the account
 *         that would read the secret is missing.
 */
export async function readersOf(
  { name, reader }: KnownSecret,
  { isForRoot, env }: { isForRoot: boolean; env: Environment },
): Promise<Readers> {
  if (!isRoot()) throw rootNeeded(name, sudoLine(`secret set ${name}${isForRoot ? " --root" : ""}`, env));
  const account = await findServiceAccount();
  if (isForRoot || reader === "root") return { account, reader: null };
  if (account !== null) return { account, reader: account };
  throw new OpsError({
    code: "ACCOUNT_UNAVAILABLE",
    message: `Cannot set secret ${name}: this host has no account ${SERVICE_ACCOUNT}, which is to read it`,
    hint: "make install makes the account; --root keeps the secret for root, which runs the commands itself where there is none",
  });
}

function rootNeeded(name: string, line: string): OpsError {
  return new OpsError({
    code: "ROOT_NEEDED",
    message: `Cannot set secret ${name}: only root may write where secrets are; nothing was read or written`,
    hint: `Run it as root: ${line}`,
  });
}
