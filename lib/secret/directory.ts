import { chmodSync, chownSync, lstatSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { OpsError } from "../platform/errors.ts";
import { octal } from "../platform/files/modes.ts";
import {
  type Step,
  type Untrusted,
  untrustedEnd,
  untrustedStep,
  wayTo,
} from "../platform/files/trusted-path.ts";
import { shellWord } from "../platform/shell-word.ts";
import { INSTALLED_DIRECTORIES, type Place } from "./place.ts";

const ONLY_ROOT = [0];
const GROUP_ENTERS = 0o010;
const OTHERS_ENTER = 0o001;
const ROOTS_GROUP = 0;
/** With which a directory begins. */
const NEW_MODE = 0o700;

/**
 * Sees that the directory of a secret is root's alone on its whole way, makes it where it is missing, and refuses a
 * link in the place of the file.
 *
 * Behaviour: called by root, before a value is asked for. No account but root can exchange anything in a directory that
 *            passes, so what is written there afterwards goes where this looked. A directory that is there is not
 *            changed, unless a run that was killed has only begun to make it. Several runs may make it at once.
 * Errors:    FILE_UNTRUSTED where another account could lead root elsewhere; SECRET_NOT_WRITTEN where the directory
 *            cannot be made, where its reader could not enter it, and for a link.
 */
export function prepareDirectory(place: Place): void {
  refuse(place, foreignFault);
  makeDirectory(place);
  refuse(place, closedFault);
  refuseForeignFile(place);
}

/** What is wrong with a directory of secrets: the code of the error, why, and the line that mends it. */
export type DirectoryFault = { code: "FILE_UNTRUSTED" | "SECRET_NOT_WRITTEN"; why: string; mend: string };

/**
 * What is wrong with the directory of a secret; null where nothing is, or where it is missing.
 *
 * Errors: those of the file system.
 */
export function directoryFault(place: Place): DirectoryFault | null {
  return foreignFault(place) ?? closedFault(place);
}

/** Whether no account but root can lead a line elsewhere that names a file in this directory. */
export function isRootsAlone(place: Place): boolean {
  try {
    return foreignFault(place) === null;
  } catch {
    return false;
  }
}

function foreignFault(place: Place): DirectoryFault | null {
  const { directory, refused } = place;
  const { steps, end } = wayTo(directory);
  const step = untrustedStep(steps, ONLY_ROOT);
  if (step !== null)
    return { code: "FILE_UNTRUSTED", why: step.why, mend: refused ?? step.mend ?? elsewhere(step.path) };
  const found = end === null ? null : untrustedEnd(end, ONLY_ROOT);
  // A sticky directory is shared: another account exchanges there what is its own, and puts something where
  // nothing is.
  const shared = sharedIn(steps);
  if (shared !== null && end === null)
    return { code: "FILE_UNTRUSTED", why: shared.why, mend: refused ?? elsewhere(shared.path) };
  if (found !== null) {
    const own = shared === null ? ownLine(place, found.path) : elsewhere(found.path);
    return { code: "FILE_UNTRUSTED", why: found.why, mend: refused ?? found.mend ?? own };
  }
  if (end === null || end.kind === "directory") return null;
  return {
    code: "FILE_UNTRUSTED",
    why: `${directory} is no directory`,
    mend: `ls -ld ${shellWord(directory)}`,
  };
}

/** Why others may write into the directory in which the last name of a way stands; null where they may not. */
function sharedIn(steps: readonly Step[]): Untrusted | null {
  const last = steps.at(-1);
  return last === undefined ? null : untrustedEnd(last, ONLY_ROOT);
}

function closedFault(place: Place): DirectoryFault | null {
  const { end } = wayTo(place.directory);
  if (end === null || canEnter(place, end)) return null;
  const why = `the account opsctl cannot enter ${place.directory}`;
  return { code: "SECRET_NOT_WRITTEN", why, mend: place.refused ?? ownLine(place, end.path) };
}

function canEnter({ folder }: Place, { path, mode }: { path: string; mode: number }): boolean {
  if (folder.owner.gid === ROOTS_GROUP) return true;
  const bit = lstatSync(path).gid === folder.owner.gid ? GROUP_ENTERS : OTHERS_ENTER;
  return (mode & bit) !== 0;
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
  throw new OpsError({ code: fault.code, message, hint: fault.mend });
}

function makeDirectory(place: Place): void {
  const { directory, folder } = place;
  try {
    if (wayTo(directory).end === null) mkdirUnlessThere(directory);
    if (!isHalfMade(directory)) return;
    chownSync(directory, folder.owner.uid, folder.owner.gid);
    chmodSync(directory, folder.mode);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const hint = code === "ENOENT" ? `Make ${dirname(directory)} first: make install does` : null;
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
  throw notWritten(
    place,
    `${place.path} is ${what}`,
    `Look at it, then remove it: rm ${shellWord(place.path)}`,
  );
}

/** The error for a secret whose file could not be written. */
export function notWritten(place: Place, reason: string, hint: string | null): OpsError {
  return new OpsError({
    code: "SECRET_NOT_WRITTEN",
    message: `Cannot write ${place.path}: ${reason}; what was there before is unchanged`,
    hint: hint ?? "See that the file system can be written and is not full, then run it again",
  });
}

/** `path` is the directory itself, behind any link: the way to it is root's alone, so no one else can exchange it. */
function ownLine({ directory, folder }: Place, path: string): string {
  const word = shellWord(path);
  const line = `chown -h ${folder.owner.name} ${word} && chmod ${octal(folder.mode)} ${word}`;
  const isInstalled = INSTALLED_DIRECTORIES.includes(directory);
  return isInstalled ? `${line} # or make install, which sees to the files in it too` : line;
}

/** Behind a step that another account may exchange, no line is safe. */
function elsewhere(step: string): string {
  return `Keep secrets where the whole way is root's, such as /etc/opsctl/secrets; or look who needs that place: ls -ld ${shellWord(step)}`;
}
