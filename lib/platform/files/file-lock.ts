import { DatabaseSync } from "node:sqlite";
import { createPrivately, emptyOwnFile } from "./own-file.ts";
import { isBusy, isDamaged, requireOwnDatabase } from "./sqlite.ts";

/** A lock that this process has; the kernel frees it when the process ends, however it ends. */
export type FileLock = { release(): void };

/**
 * Takes the lock that `path` stands for, or answers null when another process has it.
 *
 * Shape:  a transaction on an empty SQLite file, the one lock of the kernel that both runtimes can take; the file is
 *         made when it is missing, emptied when it holds anything else, and must never be removed. A shared lock keeps
 *         exclusive ones away and no others.
 * Units:  `waitMs` is how long to wait for it, without letting anything else run.
 * Errors: FILE_UNTRUSTED where another account could have it lead elsewhere: then nothing is opened, and nothing
 *         emptied; those of the file system and of SQLite.
 */
export function tryFileLock(
  path: string,
  { shared = false, waitMs = 0 }: { shared?: boolean; waitMs?: number } = {},
): FileLock | null {
  requireOwnDatabase(path);
  createPrivately(path);
  try {
    return lockOf(path, shared, waitMs);
  } catch (error) {
    if (!isDamaged(error)) throw error;
    // The same file stays: whoever else finds it damaged and empties it once more takes nobody's lock away.
    emptyOwnFile(path);
    return lockOf(path, shared, waitMs);
  }
}

function lockOf(path: string, shared: boolean, waitMs: number): FileLock | null {
  const db = new DatabaseSync(path, { timeout: waitMs });
  try {
    if (shared) {
      db.exec("begin");
      db.prepare("select count(*) from sqlite_schema").get();
    } else db.exec("begin exclusive");
    return { release: () => db.close() };
  } catch (error) {
    db.close();
    if (isBusy(error)) return null;
    throw error;
  }
}
