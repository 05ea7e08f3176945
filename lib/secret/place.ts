import { isAbsolute, join } from "node:path";
import type { ServiceAccount } from "../platform/account/service-account.ts";
import type { KnownSecret } from "../platform/config/names/known-secrets.ts";
import { OWNER_VARIABLE } from "../platform/config/settings/owner-login.ts";
import { OpsError } from "../platform/errors.ts";
import { DEFAULT_SECRETS_DIR, type Environment } from "../platform/secrets/adapter.ts";
import { ROOT_SECRETS_DIR } from "../platform/secrets/file.ts";

/** An owner of a file, with the names that a message has. */
export type Owner = { uid: number; gid: number; name: string };

/**
 * Where the file of a secret belongs, and whose it and its directory are.
 *
 * Shape: `refused` is null where root itself chose the directory; else it is what root is told instead of any line that
 *        changes something there.
 */
export type Place = {
  path: string;
  directory: string;
  refused: string | null;
  file: { owner: Owner; mode: number };
  folder: { owner: Owner; mode: number };
};

/** The directories of an installation. */
export const INSTALLED_DIRECTORIES: readonly string[] = [DEFAULT_SECRETS_DIR, ROOT_SECRETS_DIR];

const FILE_MODE = 0o600;
const ROOT: Owner = { uid: 0, gid: 0, name: "root:root" };

/**
 * Where the file of a secret belongs: with `account` null it is one that root reads.
 *
 * Behaviour: `OPSCTL_SECRETS_DIR` moves both directories, but not the owner's login, which root reads in its own alone.
 * Errors:    CONFIG_INVALID for a directory that is no absolute path.
 */
export function placeOf({ name }: KnownSecret, account: ServiceAccount | null, env: Environment): Place {
  const directory = directoryOf(name, account === null, env);
  const owner = account === null ? ROOT : ownerOf(account);
  const folder =
    account === null
      ? { owner: ROOT, mode: 0o700 }
      : { owner: { uid: 0, gid: account.gid, name: `root:${account.name}` }, mode: 0o750 };
  return { path: join(directory, name), directory, refused: null, file: { owner, mode: FILE_MODE }, folder };
}

function ownerOf({ name, uid, gid }: ServiceAccount): Owner {
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
