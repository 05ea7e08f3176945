import { rmSync, statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { createPrivately } from "../../../../platform/files/own-file.ts";

/** Whether the file that was opened at a path is still the one there; `missing` and `replaced` when it is not. */
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
 * Writes everything that `db` holds to `path`, where its own file was removed from under it.
 *
 * Errors: those of SQLite; nothing is left at `path` then, so that it can be tried again.
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
