import { lstatSync, type Stats } from "node:fs";
import { basename, dirname } from "node:path";
import { OpsError } from "../errors.ts";
import { isRoot, trustedUids, wasRoot } from "../privileges.ts";
import { directoryFault, namesOf, octal, PUT_RIGHT } from "./directory-fault.ts";
import { readRegularFile } from "./regular-file.ts";

/** The bits of a mode that let group or others read or change a file; who may only execute it learns nothing of it. */
export const READ_OR_WRITTEN_BY_OTHERS = 0o066;

const HINTS = {
  SECRET_FILE_EXPOSED:
    "Others may have read or written it: look at it, then close it (chmod 0600) or put a new value in its place",
  SECRET_FILE_UNTRUSTED:
    "Keep it in a directory of root or of the account that reads it, which no other account may write to, and give it " +
    "to that account, mode 0600; root reads only what is root's",
  SECRET_FILE_UNREADABLE: "Give the account that reads it a regular file, mode 0600 or 0400, or remove it",
};
const AS_ROOT =
  "Put sudo before the same command, or give the account that reads it a file of its own, mode 0600 or 0400";
const GIVE_FILE = "Give it to the account opsctl, mode 0600";
const GIVE_DIRECTORY = "Let the account opsctl enter it: root:opsctl, mode 0750";

/**
 * The text of a file that holds secrets; undefined where there is none. `subject` is its name in messages ("secret X").
 *
 * Behaviour: judges it by its descriptor: regular, closed to group and others, root's or this account's, in a directory
 *            that no other account may write to, or a sticky one. Links there are followed: vault agents and Kubernetes
 *            publish by them.
 * Errors:    SECRET_FILE_EXPOSED, SECRET_FILE_UNTRUSTED, SECRET_FILE_UNREADABLE.
 */
export function readClosedText(path: string, subject: string, maxBytes = 1_048_576): string | undefined {
  const refuse = (code: keyof typeof HINTS, why: string, hint = HINTS[code], cause?: unknown): never => {
    throw new OpsError({ code, message: `Cannot read ${subject}: file ${path}${why}`, hint, cause });
  };
  const judge = (stats: Stats) => {
    const mode = octal(stats.mode & 0o777);
    if (stats.isFile() && isOpen(stats))
      refuse("SECRET_FILE_EXPOSED", ` has mode ${mode}, open to group or others, expected 0600 or 0400`);
    const trusted = trustedUids();
    const whose = `it belongs to ${namesOf([stats.uid])}, expected ${namesOf(trusted)}`;
    if (!trusted.includes(stats.uid)) refuse("SECRET_FILE_UNTRUSTED", ` was not used: ${whose}`);
  };
  try {
    // The directory first: in another account's a missing file does not lead to the next place.
    const fault = directoryFault(dirname(path), { entry: basename(path) });
    // One fault for all that is looked for there: the message does not name the file.
    if (fault !== null) {
      const message = `Cannot use directory ${dirname(path)}: ${fault.why}; nothing in it was read`;
      const code = "SECRET_FILE_UNTRUSTED";
      throw new OpsError({ code, message, hint: fault.command ?? HINTS[code] });
    }
    const bytes = readRegularFile(path, { maxBytes, judge, followLinks: true });
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    const { code = "", message } = error as NodeJS.ErrnoException;
    if (error instanceof OpsError) throw error;
    if (code === "ENOENT") return undefined;
    if (["ENOTFILE", "EFBIG"].includes(code)) return refuse("SECRET_FILE_UNREADABLE", `: ${message}`);
    if (error instanceof TypeError) return refuse("SECRET_FILE_UNREADABLE", ": it is not UTF-8 text");
    const isClosed = isClosedHere(error) && isThere(path);
    const hint = !isClosed ? undefined : wasRoot() ? GIVE_FILE : AS_ROOT;
    const who = isClosed ? "this account may not read it" : "the file system does not give it";
    return refuse("SECRET_FILE_UNREADABLE", `: ${who} (${code})`, hint, error);
  }
}

/** Whether there is such a file. Errors: SECRET_FILE_UNREADABLE where this account may not enter its directory. */
export function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (cause) {
    if (!isClosedHere(cause)) return false;
    const directory = dirname(path);
    const message = `Cannot use directory ${directory}: this account may not enter it`;
    const hint = wasRoot() ? (PUT_RIGHT[directory] ?? GIVE_DIRECTORY) : AS_ROOT;
    throw new OpsError({ code: "SECRET_FILE_UNREADABLE", message, hint, cause });
  }
}

/**
 * Whether group or others may read or change a file. A credential of systemd is root's, mode 0400, and has an access
 * list for the service's account, whose mask `stat` shows as the group's bits.
 *
 * Source: systemd src/core/exec-credential.c, write_credential (fchmod 0400, fd_add_uid_acl_permission).
 */
function isOpen({ mode, uid, gid }: Stats): boolean {
  const isCredential = (mode & 0o777) === 0o440 && uid === 0 && gid === 0 && !isRoot();
  return (mode & READ_OR_WRITTEN_BY_OTHERS) !== 0 && !isCredential;
}

/** Whether the file system refused because of who asks: an ordinary account, to which a file or directory is closed. */
export function isClosedHere(error: unknown): boolean {
  const { code = "" } = Object(error) as NodeJS.ErrnoException;
  return ["EACCES", "EPERM"].includes(code) && !isRoot();
}
