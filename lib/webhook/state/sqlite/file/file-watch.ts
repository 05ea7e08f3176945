import { rmSync, statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { createPrivately } from "../../../../platform/files/sqlite.ts";

/** Says whether the file that was at a path is still there, is gone, or is another one now. */
export type FileWatch = () => "kept" | "missing" | "replaced";

/** Remembers which file is at `path` now. */
export function watchFile(path: string): FileWatch {
  const opened = statSync(path);
  return () => {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined) return "missing";
    return found.ino === opened.ino && found.dev === opened.dev ? "kept" : "replaced";
  };
}

/**
 * Writes everything in `db` to `path`, from where its file was removed while it was open.
 *
 * Errors: those of SQLite; then nothing is left at `path`, so that it can be tried again.
 */
export function putBack(db: DatabaseSync, path: string): void {
  createPrivately(path);
  try {
    db.prepare("vacuum into ?").run(path);
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  }
}
