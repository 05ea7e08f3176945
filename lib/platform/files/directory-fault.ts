import { realpathSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { trustedUids } from "../privileges.ts";

/** The bits of a mode that let group or others change a file. */
export const WRITABLE_BY_OTHERS = 0o022;
/** With this bit only the owner of an entry may exchange it in a directory. */
const STICKY = 0o1000;

/** Permissions as they are written: `0600`. */
export function octal(mode: number): string {
  return (mode & 0o7777).toString(8).padStart(4, "0");
}

/** The accounts as a message names them. */
export function namesOf(uids: readonly number[]): string {
  return [...new Set(uids)].map((uid) => (uid === 0 ? "root" : `uid ${uid}`)).join(" or ");
}

/**
 * Why an account outside `trusted` could exchange a directory or what is in it; null where none can.
 *
 * Behaviour: judges the directory, its parent and, for a link, the directory that the link is in. A parent may be sticky,
 *            as /tmp is; the directory itself only with `mayBeSticky`, for who judges each file in it as well. `owner` may
 *            let others write to what belongs to it.
 * Errors:    those of the file system, ENOENT where the directory is missing.
 */
export function directoryFault(
  path: string,
  {
    trusted = trustedUids(),
    mayBeSticky = false,
    owner = null,
  }: { trusted?: readonly number[]; mayBeSticky?: boolean; owner?: number | null } = {},
): string | null {
  const real = realpathSync(path);
  for (const at of new Set([real, dirname(real), dirname(resolve(path))])) {
    const { uid, mode } = statSync(at);
    if (uid === owner) continue;
    if (!trusted.includes(uid)) return `${at} belongs to ${namesOf([uid])}, expected ${namesOf(trusted)}`;
    const isSticky = (mode & STICKY) !== 0 && (mayBeSticky || at !== real);
    if ((mode & WRITABLE_BY_OTHERS) !== 0 && !isSticky)
      return `${at} has mode ${octal(mode)}, and group or others may write to it`;
  }
  return null;
}
