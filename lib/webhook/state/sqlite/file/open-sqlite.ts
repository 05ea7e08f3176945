import { DatabaseSync } from "node:sqlite";
import { createPrivately, isBusy, requireOwnDatabase, resultIs } from "../../../../platform/files/sqlite.ts";

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

/** Whether SQLite says that the file itself is damaged; a full disk, a lock or a failed read is no damage. */
export const isDamaged = resultIs([11, 26], /image is malformed|not a database|malformed database schema/);

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
