import { DatabaseSync } from "node:sqlite";
import { createPrivately, emptyOwnFile } from "./own-file.ts";
import { isBusy, isDamaged, requireOwnDatabase } from "./sqlite.ts";

/** A lock that this process holds; the kernel frees it when the process ends, also after a crash. */
export type FileLock = { release(): void };

/**
 * Takes the lock of the file `path`; null when another process has it.
 *
 * Behaviour: a transaction on an empty SQLite file, because both runtimes can take that lock. A missing file is made,
 *            one that holds anything else is emptied, and no one may remove it. A shared lock keeps out exclusive ones
 *            only.
 * Units:     `waitMs` is how long to wait for it; the process is blocked meanwhile.
 * Errors:    FILE_UNTRUSTED where another account could exchange the file: then nothing is opened or emptied; those of
 *            the file system and of SQLite.
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
    // Emptied, not replaced: a second process that empties it too takes no one's lock away.
    emptyOwnFile(path);
    return lockOf(path, shared, waitMs);
  }
}

function lockOf(path: string, shared: boolean, waitMs: number): FileLock | null {
  const db = new DatabaseSync(path, { timeout: waitMs });
  try {
    // A journal in a file would need room on the disk.
    db.exec("pragma journal_mode = memory");
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
