import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  ftruncateSync,
  lstatSync,
  openSync,
  type Stats,
  statSync,
} from "node:fs";
import process from "node:process";
import { OpsError } from "../errors.ts";
import { isRoot } from "../privileges.ts";
import { WRITABLE_BY_OTHERS } from "./modes.ts";
import { findForeign, namesOf } from "./trusted-path.ts";

const { O_RDWR, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK } = constants;

/**
 * Refuses a directory in which, or on the way to which, another account could put a file or a link of its own.
 *
 * Behaviour: in a directory that passes, no other account can exchange a file: what SQLite opens by name afterwards is
 *            the file that was judged.
 * Errors:    FILE_UNTRUSTED; those of the file system, ENOENT when the directory is missing.
 */
export function requireOwnDirectory(path: string): void {
  const found = findForeign(path);
  if (found !== null) throw untrusted(path, found.why, OTHER_DIRECTORY);
}

/**
 * For root: refuses a directory of another account, which could lead root elsewhere from there.
 *
 * Errors: FILE_UNTRUSTED; those of the file system but ENOENT.
 */
export function refuseForeignDirectory(path: string): void {
  if (!isRoot()) return;
  const uid = statSync(path, { throwIfNoEntry: false })?.uid ?? 0;
  if (uid === 0) return;
  throw untrusted(path, `${path} belongs to ${namesOf([uid])}, expected root`, OTHER_DIRECTORY);
}

const OTHER_DIRECTORY =
  "Name a directory of the account that runs opsctl, closed to group and others (chmod go-w), as all on its way; root " +
  "runs the command as the account that the directory belongs to (runuser --pty -u <account> -- …)";

/**
 * Refuses an existing file that is not this process's own: a link, a file with a second name, another account's, or one
 * that group or others may write to.
 *
 * Behaviour: does not open it: closing it again would drop the locks that this process has on it. Call
 *            `requireOwnDirectory` first, or the file could be exchanged afterwards.
 * Errors:    FILE_UNTRUSTED; those of the file system but ENOENT.
 */
export function requireOwnFile(path: string): void {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats !== undefined) judgeOwnFile(path, stats);
}

/**
 * Judges a file by its descriptor's stats, as `requireOwnFile` does.
 *
 * Behaviour: with `isShared` its group may write to it: a log that cron's umask made so is still this account's.
 * Errors:    FILE_UNTRUSTED.
 */
export function judgeOwnFile(path: string, stats: Stats, { isShared = false } = {}): void {
  const why = foreignness(stats, isShared);
  if (why !== null) throw untrusted(path, why, "Look at it, then move it to another name");
}

/**
 * Makes an empty file of mode 0600 when there is none.
 *
 * Errors: those of the file system.
 */
export function createPrivately(path: string): void {
  let file: number;
  try {
    // An existing file must not be opened: closing it would drop the locks that this process has on it.
    file = openSync(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return;
    throw error;
  }
  try {
    fchmodSync(file, 0o600);
  } finally {
    closeSync(file);
  }
}

/**
 * Empties a file of this process, by its descriptor.
 *
 * Errors: FILE_UNTRUSTED; those of the file system, ELOOP for a link.
 */
export function emptyOwnFile(path: string): void {
  const file = openSync(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK);
  try {
    judgeOwnFile(path, fstatSync(file));
    ftruncateSync(file);
  } finally {
    closeSync(file);
  }
}

function foreignness(stats: Stats, isShared: boolean): string | null {
  const own = process.geteuid?.() ?? stats.uid;
  if (stats.isSymbolicLink()) return "it is a link";
  if (!stats.isFile()) return "it is not a regular file";
  if (stats.uid !== own) return `it belongs to ${namesOf([stats.uid])}, expected ${namesOf([own])}`;
  if (stats.nlink > 1) return "it has a second name elsewhere (a hard link)";
  if (!isShared && (stats.mode & WRITABLE_BY_OTHERS) !== 0) return "group or others may write to it";
  return null;
}

function untrusted(path: string, why: string, hint: string): OpsError {
  return new OpsError({
    code: "FILE_UNTRUSTED",
    message: `Cannot use ${path}: ${why}; nothing was read or written`,
    hint,
  });
}
