import { closeSync, lstatSync, openSync } from "node:fs";
import { dirname } from "node:path";
import process from "node:process";
import { DatabaseSync } from "node:sqlite";
import { OpsError } from "../errors.ts";
import { directoryFault, namesOf } from "./directory-fault.ts";

/** How long a statement waits for another process that writes to the same file. */
const BUSY_MS = 2_000;

/**
 * Opens a SQLite file that several processes use at once and that keeps every commit; makes it when it is missing.
 *
 * Behaviour: a new file has mode 0600 under any umask, and can give space back in small steps. What SQLite sorts stays
 *            in memory: the disk that temporary files would need may be full.
 * Errors:    FILE_UNTRUSTED; those of the file system and of SQLite.
 */
export function openSqlite(path: string): DatabaseSync {
  makeOwnDatabase(path);
  const db = new DatabaseSync(path, { timeout: BUSY_MS });
  try {
    // Before the first page is written: later only a vacuum changes it.
    db.prepare("pragma auto_vacuum = incremental").all();
    db.exec("pragma temp_store = memory");
    switchToWal(db);
    db.exec("pragma synchronous = full; pragma journal_size_limit = 67108864");
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Refuses a database as `requireOwnDatabase` does, and makes an empty one of mode 0600 when there is none. */
export function makeOwnDatabase(path: string): void {
  requireOwnDatabase(path);
  createPrivately(path);
}

/**
 * Refuses a database of another account, such as one that root has restored, and one in a directory where another
 * account could exchange it, or what SQLite puts beside it.
 *
 * Errors: FILE_UNTRUSTED; those of the file system, ENOENT where the directory is missing.
 */
export function requireOwnDatabase(path: string): void {
  const own = process.geteuid?.() ?? 0;
  const owner = lstatSync(path, { throwIfNoEntry: false })?.uid ?? own;
  const other = owner === own ? null : `it belongs to ${namesOf([owner])}, expected ${namesOf([own])}`;
  const why = other ?? directoryFault(dirname(path));
  if (why === null) return;
  const message = `Cannot use ${path}: ${why}; nothing was read or written`;
  throw new OpsError({ code: "FILE_UNTRUSTED", message, hint: OWN });
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

/** Whether SQLite says that the file itself is damaged; a full disk, a lock or a failed read is no damage. */
export const isDamaged = resultIs([11, 26], /image is malformed|not a database|malformed database schema/);

/** Whether another process had the file for longer than we wait. */
export const isBusy = resultIs([5], /database is locked/);

/** Whether a row itself was refused: a constraint, or a value of another type. */
export const isRefusedRow = resultIs([19, 20], /constraint failed|datatype mismatch|cannot store/);

/** Whether the system lets nothing be written there: a disk mounted so, or a unit of systemd that closes it. */
export const isReadOnly = resultIs([8], /attempt to write a readonly database/, ["EROFS"]);

const isFull = resultIs([13], /database or disk is full/, ["ENOSPC", "EDQUOT"]);
const isFailed = resultIs([10], /disk I\/O error/, ["EIO"]);

/** Whether the disk, or what this connection or account may use of it, is full; also when a file is written by name. */
export function isDiskFull(error: unknown): boolean {
  // SQLITE_IOERR_WRITE, which a used-up quota gives, and SQLITE_IOERR_SHMSIZE.
  return (
    isFull(error) ||
    (error instanceof Error && "errcode" in error && [778, 4_874].includes(error.errcode as number))
  );
}

/** Whether the disk is full, or fails to read or to write. */
export function isDiskTrouble(error: unknown): boolean {
  return isDiskFull(error) || isFailed(error);
}

/** Whether an error is one of these results of SQLite, or has one of these codes of the file system. */
function resultIs(results: number[], text: RegExp, codes: string[] = []): (error: unknown) => boolean {
  return (error) => {
    if (!(error instanceof Error)) return false;
    const { code = "", errcode, message } = error as Error & { code?: string; errcode?: number };
    if (code !== "ERR_SQLITE_ERROR") return codes.includes(code);
    // Deno gives the result's number for prepared statements only, and the text for everything.
    return errcode === undefined ? text.test(message) : results.includes(errcode & 0xff);
  };
}

// When two processes open a new file at once, SQLite does not wait for the other's lock before this switch.
function switchToWal(db: DatabaseSync): void {
  const deadlineMs = performance.now() + BUSY_MS;
  for (;;) {
    try {
      // Prepared: only so Deno says whether a failure is a full disk.
      db.prepare("pragma journal_mode = wal").all();
      return;
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadlineMs) throw error;
    }
  }
}
