import { DatabaseSync } from "node:sqlite";
import { createPrivately, isBusy, requireOwnDatabase } from "./sqlite.ts";

/** A lock that this process holds; the kernel frees it when the process ends, also after a crash. */
export type FileLock = { release(): void };

/**
 * Takes the lock of the file `path`; null when another process has it.
 *
 * Behaviour: a transaction on an empty SQLite file, because both runtimes can take that lock. A missing file is made, and
 *            no one may remove it. A shared lock keeps out exclusive ones only.
 * Units:     `waitMs` is how long to wait for it; the process is blocked meanwhile.
 * Errors:    FILE_UNTRUSTED; those of the file system and of SQLite.
 */
export function tryFileLock(
  path: string,
  { shared = false, waitMs = 0 }: { shared?: boolean; waitMs?: number } = {},
): FileLock | null {
  requireOwnDatabase(path);
  createPrivately(path);
  const db = new DatabaseSync(path, { timeout: waitMs });
  try {
    // A journal in a file would need room on the disk.
    db.exec("pragma journal_mode = memory");
    db.exec(shared ? "begin; select count(*) from sqlite_schema" : "begin exclusive");
    return { release: () => db.close() };
  } catch (error) {
    db.close();
    if (isBusy(error)) return null;
    throw error;
  }
}
