import { existsSync } from "node:fs";
import { join } from "node:path";
import type { KnownSecret } from "../platform/config/known-secrets.ts";
import { OWNER_VARIABLE } from "../platform/config/owner-login.ts";
import type { Fix } from "../platform/errors.ts";
import { PUT_RIGHT } from "../platform/files/directory-fault.ts";
import type { Account } from "../platform/privileges.ts";
import { DEFAULT_SECRETS_DIR, type Environment } from "../platform/secrets/adapter.ts";
import { ROOT_SECRETS_DIR } from "../platform/secrets/root-secrets.ts";

/** Where the file of a secret belongs, and the account that reads it there. */
export type Place = { path: string; directory: string; reader: { name: string; uid: number; gid: number } };

/**
 * Where the file of a secret belongs: with `account` null it is one that root reads. `OPSCTL_SECRETS_DIR` moves both
 * directories, but not the owner's login, which root reads in its own alone.
 */
export function placeOf({ name }: KnownSecret, account: Account | null, env: Environment): Place {
  const isFixed = name === OWNER_VARIABLE && account === null;
  const named = isFixed ? undefined : env.OPSCTL_SECRETS_DIR?.trim();
  const directory = named || (account === null ? ROOT_SECRETS_DIR : DEFAULT_SECRETS_DIR);
  return { path: join(directory, name), directory, reader: account ?? { name: "root", uid: 0, gid: 0 } };
}

/** What puts the file of a secret right; a command only for an installed directory. */
export function fixOf({ directory }: Place, secret: string): Fix {
  const command = directory in PUT_RIGHT ? `opsctl secret set ${secret}` : null;
  return { text: "Remove the file, then set the secret again", command };
}

/** What a directory of secrets has to be. */
export const OWN_DIRECTORY =
  "Keep secrets in a directory of root's that is in one of root's, and that its reader's group may enter";

/** The credential with which systemd gave a secret to the webhook that runs; null where it has none. */
export function webhookCredential({ name, usedBy }: KnownSecret): string | null {
  const path = `/run/credentials/opsctl-webhook.service/${name}`;
  return usedBy.some(({ command }) => command === "webhook") && existsSync(path) ? path : null;
}
