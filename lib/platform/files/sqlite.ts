import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createPrivately, requireOwnDirectory, requireOwnFile } from "./own-file.ts";

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
  requireOwnDatabase(path);
  createPrivately(path);
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

/** The files that SQLite itself puts beside a database and opens by name. */
const BESIDE = ["-journal", "-wal", "-shm"];

/**
 * Refuses a database that another account could exchange: a directory that it may write to, or a file, or one of
 * SQLite's beside it, that is not this process's own.
 *
 * Errors: FILE_UNTRUSTED; those of the file system.
 */
export function requireOwnDatabase(path: string): void {
  requireOwnDirectory(dirname(path));
  for (const suffix of ["", ...BESIDE]) requireOwnFile(path + suffix);
}

/** Whether SQLite says that the file itself is damaged; a full disk, a lock or a failed read is no damage. */
export function isDamaged(error: unknown): boolean {
  return isSqliteResult(error, DAMAGED, DAMAGED_TEXT);
}

/** Whether another process had the file for longer than we wait. */
export function isBusy(error: unknown): boolean {
  return isSqliteResult(error, BUSY, BUSY_TEXT);
}

/** Whether a row itself was refused: a constraint, or a value of another type. */
export function isRefusedRow(error: unknown): boolean {
  return isSqliteResult(error, REFUSED_ROW, REFUSED_ROW_TEXT);
}

/** Whether the disk, or what this connection or account may use of it, is full; also when a file is written by name. */
export function isDiskFull(error: unknown): boolean {
  if (isSqliteResult(error, FULL, FULL_TEXT)) return true;
  if (!(error instanceof Error)) return false;
  const { code, errcode } = error as { code?: string; errcode?: number };
  return NO_SPACE_ERRORS.includes(errcode ?? 0) || NO_SPACE_CODES.includes(code ?? "");
}

/** Whether the disk is full, or fails to read or to write. */
export function isDiskTrouble(error: unknown): boolean {
  if (isDiskFull(error) || isSqliteResult(error, FAILED, FAILED_TEXT)) return true;
  return error instanceof Error && (error as { code?: unknown }).code === "EIO";
}

/** Whether the system lets nothing be written there: a disk mounted so, or a unit of systemd that closes it. */
export function isReadOnly(error: unknown): boolean {
  if (isSqliteResult(error, READ_ONLY, READ_ONLY_TEXT)) return true;
  return error instanceof Error && (error as { code?: unknown }).code === "EROFS";
}

const READ_ONLY = [8];
const READ_ONLY_TEXT = /attempt to write a readonly database/;
const FULL = [13];
const FULL_TEXT = /database or disk is full/;
/** SQLITE_IOERR_WRITE, which a used-up quota gives, and SQLITE_IOERR_SHMSIZE. */
const NO_SPACE_ERRORS = [778, 4_874];
const NO_SPACE_CODES = ["ENOSPC", "EDQUOT"];
const FAILED = [10];
const FAILED_TEXT = /disk I\/O error/;
const DAMAGED = [11, 26];
const DAMAGED_TEXT = /database disk image is malformed|file is not a database|malformed database schema/;
const BUSY = [5];
const BUSY_TEXT = /database is locked/;
const REFUSED_ROW = [19, 20];
const REFUSED_ROW_TEXT = /constraint failed|datatype mismatch|cannot store/;

// Deno gives the result's number for prepared statements only, and the text for everything.
function isSqliteResult(error: unknown, results: readonly number[], text: RegExp): boolean {
  if (!(error instanceof Error)) return false;
  const { code, errcode } = error as { code?: unknown; errcode?: unknown };
  if (code !== "ERR_SQLITE_ERROR") return false;
  return typeof errcode === "number" ? results.includes(errcode & 0xff) : text.test(error.message);
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
