import { isAbsolute, join } from "node:path";
import type { KnownSecret } from "../platform/config/known-secrets.ts";
import { OWNER_VARIABLE } from "../platform/config/owner-login.ts";
import { type Fix, OpsError } from "../platform/errors.ts";
import type { Account } from "../platform/privileges.ts";
import { DEFAULT_SECRETS_DIR, type Environment } from "../platform/secrets/adapter.ts";
import { ROOT_SECRETS_DIR } from "../platform/secrets/root-secrets.ts";

/** An owner of a file, with the names that a message has. */
export type Owner = { uid: number; gid: number; name: string };

/** Where the file of a secret belongs, and whose it and its directory are. */
export type Place = {
  path: string;
  directory: string;
  file: { owner: Owner; mode: number };
  folder: { owner: Owner; mode: number };
};

const FILE_MODE = 0o600;
const ROOT: Owner = { uid: 0, gid: 0, name: "root:root" };

/**
 * Where the file of a secret belongs: with `account` null it is one that root reads.
 *
 * Behaviour: `OPSCTL_SECRETS_DIR` moves both directories, but not the owner's login, which root reads in its own alone.
 * Errors:    CONFIG_INVALID for a directory that is no absolute path.
 */
export function placeOf({ name }: KnownSecret, account: Account | null, env: Environment): Place {
  const directory = directoryOf(name, account === null, env);
  const owner = account === null ? ROOT : ownerOf(account);
  const folder =
    account === null
      ? { owner: ROOT, mode: 0o700 }
      : { owner: { uid: 0, gid: account.gid, name: `root:${account.name}` }, mode: 0o750 };
  return { path: join(directory, name), directory, file: { owner, mode: FILE_MODE }, folder };
}

/**
 * What puts something right at a place: in words, and with its command where the directory is that of an installation
 * for this very reader. A setting of the account may name any other, also root's.
 */
export function fixAt(place: Place, text: string, command: (directory: string) => string): Fix {
  const installed = place.folder.owner.gid === ROOT.gid ? ROOT_SECRETS_DIR : DEFAULT_SECRETS_DIR;
  return { text, command: place.directory === installed ? command(installed) : null };
}

function ownerOf({ name, uid, gid }: Account): Owner {
  return { uid, gid, name: `${name}:${name}` };
}

function directoryOf(name: string, isRoots: boolean, env: Environment): string {
  const named = env.OPSCTL_SECRETS_DIR?.trim() ?? "";
  if (name === OWNER_VARIABLE && isRoots) return ROOT_SECRETS_DIR;
  if (named === "") return isRoots ? ROOT_SECRETS_DIR : DEFAULT_SECRETS_DIR;
  if (isAbsolute(named)) return named;
  throw new OpsError({
    code: "CONFIG_INVALID",
    message: "Cannot find the secrets: OPSCTL_SECRETS_DIR is not an absolute path",
    hint: `Leave it out for ${isRoots ? ROOT_SECRETS_DIR : DEFAULT_SECRETS_DIR}`,
  });
}
