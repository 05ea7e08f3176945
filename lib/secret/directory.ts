import { chmodSync, chownSync, lstatSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { type Fix, OpsError } from "../platform/errors.ts";
import { octal } from "../platform/files/modes.ts";
import { findForeign } from "../platform/files/trusted-path.ts";
import { fixAt, type Place } from "./place.ts";

const ONLY_ROOT = { trusted: [0] };
const GROUP_ENTERS = 0o010;
const OTHERS_ENTER = 0o001;
const ROOTS_GROUP = 0;
/** With which a directory begins. */
const NEW_MODE = 0o700;

/** What is wrong with a directory of secrets: the code of the error, why, and the fix. */
export type DirectoryFault = { code: "FILE_UNTRUSTED" | "SECRET_NOT_WRITTEN"; why: string; fix: Fix };

/**
 * Makes the directory of a secret where it is missing, and refuses one in which an account but root could exchange the
 * file, or a link in the place of the file.
 *
 * Behaviour: called by root, before a value is asked for. A directory that is there is not changed, unless a run that
 *            was killed has only begun to make it. Several runs may make it at once.
 * Errors:    FILE_UNTRUSTED where another account could lead root elsewhere; SECRET_NOT_WRITTEN where the directory
 *            cannot be made, where its reader could not enter it, and for a link.
 */
export function prepareDirectory(place: Place): void {
  refuse(place, foreignFault);
  makeDirectory(place);
  refuse(place, directoryFault);
  refuseForeignFile(place);
}

/**
 * What is wrong with the directory of a secret; null where nothing is, or where it is missing.
 *
 * Errors: those of the file system.
 */
export function directoryFault(place: Place): DirectoryFault | null {
  return foreignFault(place) ?? closedFault(place);
}

/** Why an account but root could put something else in the place of a secret's file. */
function foreignFault(place: Place): DirectoryFault | null {
  const { directory } = place;
  const entry = lstatSync(directory, { throwIfNoEntry: false });
  if (entry === undefined) {
    const above = statSync(dirname(directory), { throwIfNoEntry: false });
    const foreign = above === undefined ? null : findForeign(dirname(directory), ONLY_ROOT);
    return foreign === null ? null : untrusted(foreign.why, ELSEWHERE);
  }
  if (!statSync(directory).isDirectory()) return untrusted(`${directory} is no directory`, ELSEWHERE);
  const foreign = findForeign(directory, ONLY_ROOT);
  return foreign === null
    ? null
    : untrusted(foreign.why, foreign.path === directory ? ownFix(place) : ELSEWHERE);
}

const ELSEWHERE: Fix = {
  text: "Keep secrets where the whole way is root's, and closed to others for writing, such as /etc/opsctl/secrets",
  command: null,
};

function untrusted(why: string, fix: Fix): DirectoryFault {
  return { code: "FILE_UNTRUSTED", why, fix };
}

/** Why the account that reads the secret cannot. */
function closedFault(place: Place): DirectoryFault | null {
  const { directory, folder } = place;
  const stats = statSync(directory, { throwIfNoEntry: false });
  if (stats === undefined || folder.owner.gid === ROOTS_GROUP) return null;
  const bit = stats.gid === folder.owner.gid ? GROUP_ENTERS : OTHERS_ENTER;
  if ((stats.mode & bit) !== 0) return null;
  const why = `the account opsctl cannot enter ${directory}`;
  return { code: "SECRET_NOT_WRITTEN", why, fix: ownFix(place) };
}

function refuse(place: Place, judge: (place: Place) => DirectoryFault | null): void {
  let fault: DirectoryFault | null;
  try {
    fault = judge(place);
  } catch (error) {
    throw notWritten(place, (error as NodeJS.ErrnoException).code ?? "the file system failed", null);
  }
  if (fault === null) return;
  const message = `Cannot set a secret in ${place.directory}: ${fault.why}; nothing was read or written`;
  throw new OpsError({ code: fault.code, message, hint: fault.fix.command ?? fault.fix.text ?? undefined });
}

function makeDirectory(place: Place): void {
  const { directory, folder } = place;
  try {
    mkdirUnlessThere(directory);
    if (!isHalfMade(directory)) return;
    chownSync(directory, folder.owner.uid, folder.owner.gid);
    chmodSync(directory, folder.mode);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const hint = code === "ENOENT" ? "Make the directory above it first: make install does" : null;
    throw notWritten(place, `${directory} cannot be made: ${code}`, hint);
  }
}

function mkdirUnlessThere(path: string): void {
  try {
    mkdirSync(path, { mode: NEW_MODE });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

/** Whether it is as it was just made: closed to all but root, and empty. */
function isHalfMade(directory: string): boolean {
  return (statSync(directory).mode & 0o777) === NEW_MODE && readdirSync(directory).length === 0;
}

function refuseForeignFile(place: Place): void {
  const stats = lstatSync(place.path, { throwIfNoEntry: false });
  if (stats === undefined || stats.isFile()) return;
  const what = stats.isSymbolicLink() ? "a link: its value is kept elsewhere" : "no regular file";
  throw notWritten(place, `${place.path} is ${what}`, "Look at it, then remove it");
}

/** The error for a secret whose file could not be written. */
export function notWritten(place: Place, reason: string, hint: string | null): OpsError {
  return new OpsError({
    code: "SECRET_NOT_WRITTEN",
    message: `Cannot write ${place.path}: ${reason}; what was there before is unchanged`,
    hint: hint ?? "See that the file system can be written and is not full, then run it again",
  });
}

function ownFix(place: Place): Fix {
  const { owner, mode } = place.folder;
  return fixAt(place, `Give the directory to ${owner.name}, with mode ${octal(mode)}`, (directory) =>
    [`chown -h ${owner.name} ${directory}`, `chmod ${octal(mode)} ${directory}`].join(" && "),
  );
}
