import { lstatSync, realpathSync, type Stats, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { trustedUids } from "../privileges.ts";

/** The bits of a mode that let group or others change a file. */
export const WRITABLE_BY_OTHERS = 0o022;
/** With this bit only the owner of an entry may exchange it in a directory. */
const STICKY = 0o1000;

/** Permissions as they are written: `0600`. */
export function octal(mode: number): string {
  return (mode & 0o7777).toString(8).padStart(4, "0");
}

/** What lies in the place of a file, as a message names it. */
export function kindOf(stats: Stats): string {
  if (stats.isSymbolicLink()) return "a link";
  if (stats.isDirectory()) return "a directory";
  if (stats.isFIFO()) return "a named pipe";
  return stats.isFile() ? "a regular file" : "a socket or a device";
}

/** The accounts as a message names them. */
export function namesOf(uids: readonly number[]): string {
  return [...new Set(uids)].map((uid) => (uid === 0 ? "root" : `uid ${uid}`)).join(" or ");
}

/** What is wrong on the way to a directory, and the command that puts it right; null but for an installed directory. */
export type DirectoryFault = { why: string; command: string | null };

/** What makes the directories of an installation, and puts them right. */
export const PUT_RIGHT: Readonly<Record<string, string>> = {
  "/etc/opsctl": "chown root:root /etc/opsctl && chmod 0755 /etc/opsctl",
  "/etc/opsctl/secrets": "install -d -o root -g opsctl -m 0750 /etc/opsctl/secrets",
  "/etc/opsctl/root-secrets": "install -d -o root -g root -m 0700 /etc/opsctl/root-secrets",
};

function faultAt(path: string, why: string): DirectoryFault {
  return { why: `${path} ${why}`, command: PUT_RIGHT[path] ?? null };
}

/**
 * Why an account outside `trusted` could exchange a directory or what is in it; null where none can.
 *
 * Behaviour: judges the directory and all above it, and all above a link. In a sticky directory, as /tmp is, only the
 *            owner of an entry may exchange it: there the entry on the way, a link too, has to be of a trusted account.
 *            The directory itself may be sticky only for one `entry`. `owner` may let others write to what is its own.
 * Errors:    those of the file system, ENOENT where the directory is missing.
 */
export function directoryFault(
  path: string,
  {
    trusted = trustedUids(),
    entry = null,
    owner = null,
  }: { trusted?: readonly number[]; entry?: string | null; owner?: number | null } = {},
): DirectoryFault | null {
  const real = realpathSync(path);
  for (const [at, name] of [[real, entry] as const, ...stepsUp(real), ...stepsUp(resolve(path))]) {
    const { uid, mode } = statSync(at);
    if (uid === owner) continue;
    if (!trusted.includes(uid))
      return faultAt(at, `belongs to ${namesOf([uid])}, expected ${namesOf(trusted)}`);
    if ((mode & WRITABLE_BY_OTHERS) === 0) continue;
    if (name === null || (mode & STICKY) === 0)
      return faultAt(at, `has mode ${octal(mode)}, and group or others may write to it`);
    const stats = lstatSync(join(at, name), { throwIfNoEntry: false });
    if (stats !== undefined && stats.uid !== owner && !trusted.includes(stats.uid))
      return faultAt(join(at, name), `belongs to ${namesOf([stats.uid])}, expected ${namesOf(trusted)}`);
  }
  return null;
}

/** Each directory above a path, with the name of what is next on the way. */
function stepsUp(path: string): [directory: string, name: string][] {
  const above = dirname(path);
  return above === path ? [] : [[above, basename(path)], ...stepsUp(above)];
}
