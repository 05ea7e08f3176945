import { chmodSync, lchownSync, lstatSync, mkdirSync, renameSync, rmdirSync } from "node:fs";
import { dirname } from "node:path";
import { OpsError } from "../platform/errors.ts";
import { untrustedEnd, untrustedStep, wayTo } from "../platform/files/trusted-path.ts";
import type { Place } from "./place.ts";

const ONLY_ROOT = [0];
const GROUP_ENTERS = 0o010;
const OTHERS_ENTER = 0o001;
const ROOTS_GROUP = 0;

/**
 * Sees that the directory of a secret is root's alone on its whole way, makes it where it is missing, and refuses a link
 * in the place of the file.
 *
 * Behaviour: called by root, before a value is asked for. No account but root can exchange anything in a directory that
 *            passes, so what is written there afterwards goes where this looked. A directory that is there is not changed.
 * Errors:    FILE_UNTRUSTED where another account could lead root elsewhere; SECRET_NOT_WRITTEN where the directory cannot
 *            be made, where its reader could not enter it, and for a link.
 */
export function prepareDirectory(place: Place): void {
  const { fault, isThere } = lookAt(place);
  if (fault !== null) throw refused(place, fault);
  if (!isThere) makeDirectory(place);
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
  const { directory } = place;
  const { steps, end } = wayTo(directory);
  const found = untrustedStep(steps, ONLY_ROOT) ?? (end === null ? null : untrustedEnd(end, ONLY_ROOT));
  if (found !== null) return { code: "FILE_UNTRUSTED", why: found.why, mend: found.mend ?? ownLine(place) };
  if (end === null) return null;
  if (end.kind !== "directory")
    return { code: "FILE_UNTRUSTED", why: `${directory} is no directory`, mend: `ls -ld ${directory}` };
  if (canEnter(place, end)) return null;
  return {
    code: "SECRET_NOT_WRITTEN",
    why: `the account opsctl cannot enter ${directory}`,
    mend: ownLine(place),
  };
}

function canEnter({ folder }: Place, { path, mode }: { path: string; mode: number }): boolean {
  if (folder.owner.gid === ROOTS_GROUP) return true;
  const bit = lstatSync(path).gid === folder.owner.gid ? GROUP_ENTERS : OTHERS_ENTER;
  return (mode & bit) !== 0;
}

function lookAt(place: Place): { fault: DirectoryFault | null; isThere: boolean } {
  try {
    return { fault: directoryFault(place), isThere: wayTo(place.directory).end !== null };
  } catch (error) {
    throw notWritten(place, (error as NodeJS.ErrnoException).code ?? "the file system failed", null);
  }
}

function refused({ directory }: Place, { code, why, mend }: DirectoryFault): OpsError {
  const message = `Cannot set a secret in ${directory}: ${why}; nothing was read or written`;
  return new OpsError({ code, message, hint: mend });
}

function makeDirectory(place: Place): void {
  const { directory, folder } = place;
  // It gets its name when owner and mode are right: a run that is killed in between leaves none that is half.
  const made = `${directory}.new~`;
  try {
    rmdirIfThere(made);
    mkdirSync(made, { mode: 0o700 });
    lchownSync(made, folder.owner.uid, folder.owner.gid);
    chmodSync(made, folder.mode);
    renameSync(made, directory);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const hint = code === "ENOENT" ? `Make ${dirname(directory)} first: make install does` : null;
    throw notWritten(place, `${directory} cannot be made: ${code}`, hint);
  }
}

function rmdirIfThere(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) rmdirSync(path);
}

function refuseForeignFile(place: Place): void {
  const stats = lstatSync(place.path, { throwIfNoEntry: false });
  if (stats === undefined || stats.isFile()) return;
  const what = stats.isSymbolicLink() ? "a link: its value is kept elsewhere" : "no regular file";
  throw notWritten(place, `${place.path} is ${what}`, `Look at it, then remove it: rm ${place.path}`);
}

/** The error for a secret whose file could not be written. */
export function notWritten(place: Place, reason: string, hint: string | null): OpsError {
  return new OpsError({
    code: "SECRET_NOT_WRITTEN",
    message: `Cannot write ${place.path}: ${reason}; what was there before is unchanged`,
    hint: hint ?? "See that the file system can be written and is not full, then run it again",
  });
}

function ownLine({ directory, folder }: Place): string {
  const mode = folder.mode.toString(8).padStart(4, "0");
  return `chown -h ${folder.owner.name} ${directory}; chmod ${mode} ${directory}, or make install, which sees to the files in it too`;
}
