import { closeSync, lstatSync, openSync } from "node:fs";
import { dirname } from "node:path";
import process from "node:process";
import { OpsError } from "../errors.ts";
import { directoryFault, kindOf, namesOf } from "./directory-fault.ts";

/**
 * Refuses a database of another account, such as one that root has restored, one in a directory where another account
 * could exchange it, or what SQLite puts beside it, and what is no regular file.
 *
 * Errors: FILE_UNTRUSTED; those of the file system, ENOENT where the directory is missing.
 */
export function requireOwnDatabase(path: string): void {
  const own = process.geteuid?.() ?? 0;
  const stats = lstatSync(path, { throwIfNoEntry: false });
  const owner = stats?.uid ?? own;
  const other = owner === own ? null : `it belongs to ${namesOf([owner])}, expected ${namesOf([own])}`;
  const foreign = other ?? directoryFault(dirname(path))?.why ?? null;
  const isFile = stats === undefined || stats.isFile() || stats.isSymbolicLink();
  const why = foreign ?? (isFile ? null : `it is ${kindOf(stats)}`);
  if (why === null) return;
  const message = `Cannot use ${path}: ${why}; nothing was read or written`;
  const hint = foreign === null ? "Look at it, then remove it: opsctl makes the file" : OWN;
  throw new OpsError({ code: "FILE_UNTRUSTED", message, hint });
}

const OWN =
  "Give it to the account that runs opsctl, in a directory of that account that is closed to group and others (chmod " +
  "go-w), as the one above it; root runs the command as that account (runuser --pty -u <account> -- …)";

/** Makes an empty file of mode 0600 when there is none. */
export function createPrivately(path: string): void {
  try {
    // An existing file must not be opened: closing it would drop the locks that this process has on it.
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

/** Whether another process had the file for longer than we wait. */
export const isBusy = resultIs([5], /database is locked/);

/** Returns whether an error is one of these results of SQLite, or has one of these codes of the file system. */
export function resultIs(results: number[], text: RegExp, codes: string[] = []): (error: unknown) => boolean {
  return (error) => {
    if (!(error instanceof Error)) return false;
    const { code = "", errcode, message } = error as Error & { code?: string; errcode?: number };
    if (code !== "ERR_SQLITE_ERROR") return codes.includes(code);
    // Deno gives the result's number for prepared statements only, and the text for everything.
    return errcode === undefined ? text.test(message) : results.includes(errcode & 0xff);
  };
}
