import { lstatSync, type Stats } from "node:fs";
import { dirname } from "node:path";
import process from "node:process";
import { OpsError } from "../errors.ts";
import { isRoot, trustedUids } from "../privileges.ts";
import { octal, READ_OR_WRITTEN_BY_OTHERS, WRITABLE_BY_OTHERS } from "./modes.ts";
import { readJudged } from "./regular-file.ts";
import { endOf, type Foreign, findForeign, namesOf } from "./trusted-path.ts";

/**
 * A file that holds secrets.
 *
 * Shape: `subject` is its name in messages ("secret X"), `reader` the program that needs it; `isTrusted` accepts a mode
 *        that would be refused.
 */
export type ClosedFile = {
  subject: string;
  reader: string;
  maxBytes: number;
  isTrusted?: (stats: Stats, userId: number | undefined) => boolean;
};

/**
 * The bytes of a file that holds secrets; undefined where there is none.
 *
 * Behaviour: opens it once and judges it by its descriptor: regular, closed to group and others, root's or this
 *            account's, in a directory that no other account may write to. Links of such a directory are followed: vault
 *            agents and Kubernetes publish by them.
 * Errors:    SECRET_FILE_EXPOSED, SECRET_FILE_UNTRUSTED, SECRET_FILE_UNREADABLE.
 */
export function readClosedFile(path: string, file: ClosedFile): Uint8Array | undefined {
  try {
    // The directory first: in another account's a missing file does not lead to the next place.
    refuseForeign(findForeign(dirname(path), { mayBeSticky: true }), path, file);
    refuseForeign(findForeign(path, { mayBeSticky: true, withoutEnd: true }), path, file);
    const directory = lstatSync(dirname(endOf(path)));
    return readJudged(path, (stats) => judge(path, file, { stats, directory }));
  } catch (error) {
    if (error instanceof OpsError) throw error;
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw unreadable(path, file, fileSystemText(error), error);
  }
}

/**
 * What `readClosedFile` returns, as text.
 *
 * Errors: those of `readClosedFile`; SECRET_FILE_UNREADABLE when it is not UTF-8.
 */
export function readClosedText(path: string, file: ClosedFile): string | undefined {
  const bytes = readClosedFile(path, file);
  try {
    return bytes && new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw unreadable(path, file, "it is not UTF-8 text");
  }
}

/** Whether the file system refused because of who asks: an ordinary account, to which a file or directory is closed. */
export function isClosedHere(error: unknown): boolean {
  const { code = "" } = Object(error) as NodeJS.ErrnoException;
  return ["EACCES", "EPERM"].includes(code) && !isRoot();
}

/** Why a file could not be read, for the error of the file system. */
export function fileSystemText(error: unknown): string {
  const { code = "an unknown error" } = Object(error) as NodeJS.ErrnoException;
  return isClosedHere(error) ? `this account may not read it (${code})` : `the file system answered ${code}`;
}

function refuseForeign(foreign: Foreign | null, path: string, file: ClosedFile): void {
  if (foreign !== null) throw untrusted(path, file, foreign.why);
}

function judge(
  path: string,
  file: ClosedFile,
  { stats, directory }: { stats: Stats; directory: Stats },
): void {
  const { uid, mode, size, nlink } = stats;
  if (!stats.isFile()) throw unreadable(path, file, "it is not a regular file");
  if ((mode & READ_OR_WRITTEN_BY_OTHERS) !== 0 && !file.isTrusted?.(stats, process.geteuid?.()))
    throw exposed(path, file, mode);
  if (!trustedUids().includes(uid))
    throw untrusted(path, file, `it belongs to ${namesOf([uid])}, expected ${namesOf(trustedUids())}`);
  // In a sticky directory any account may give a file of ours a second name.
  if (nlink > 1 && (directory.mode & WRITABLE_BY_OTHERS) !== 0)
    throw untrusted(path, file, "the file has a second name elsewhere (a hard link)");
  if (size > file.maxBytes) throw unreadable(path, file, `it has more than ${file.maxBytes} bytes`);
}

function exposed(path: string, { subject }: ClosedFile, mode: number): OpsError {
  return new OpsError({
    code: "SECRET_FILE_EXPOSED",
    message: `Cannot read ${subject}: file ${path} has mode ${octal(mode & 0o777)}, open to group or others, expected 0600 or 0400`,
    hint: "Others may have read or written it: look at it, then close it (chmod 0600) or put a new value in its place",
  });
}

function untrusted(path: string, { subject }: ClosedFile, why: string): OpsError {
  return new OpsError({
    code: "SECRET_FILE_UNTRUSTED",
    message: `Cannot read ${subject}: file ${path} was not used: ${why}`,
    hint: isRoot()
      ? "Root reads files of root's in directories of root's; or run the command as the account that owns the file"
      : "Keep the file in a directory of root or of the account that runs opsctl, closed to group and others, and give it to that account",
  });
}

function unreadable(
  path: string,
  { subject, reader }: ClosedFile,
  reason: string,
  cause?: unknown,
): OpsError {
  return new OpsError({
    code: "SECRET_FILE_UNREADABLE",
    message: `Cannot read ${subject}: file ${path}: ${reason}`,
    hint: `Give the account that runs ${reader} a regular file with mode 0600 or 0400, or remove it`,
    cause,
  });
}
