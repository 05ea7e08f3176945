import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { TextDirectory } from "../host/text-directory.ts";
import { type FileLock, tryFileLock } from "../platform/files/file-lock.ts";
import { isRoot } from "../platform/privileges.ts";
import { unwritable } from "./write-metrics-file.ts";

/** Name of the lock's file inside the text-file directory; one that ended in `.prom` would be read as metrics. */
export const LOCK_FILE = ".opsctl-collect.lock";

/** Directory of root's locks, in the first of `RUNTIME_DIRS` that the host has. */
const ROOT_LOCKS = "opsctl-collect";
const RUNTIME_DIRS = ["/run", "/var/run", "/var/lib"];

/**
 * Keeps two runs that write into one directory apart; null when another run is in progress.
 *
 * Behaviour: root's lock is in a directory of root's, another account's in the text-file directory. So a run of root
 *            and one of the directory's owner do not exclude each other; each still replaces the whole file.
 * Errors:    METRICS_FILE_UNWRITABLE when the lock's file cannot be made or used.
 */
export function lockRun(directory: TextDirectory): FileLock | null {
  const path = lockPathOf(directory);
  try {
    if (isRoot()) mkdirSync(rootLocks(), { mode: 0o700, recursive: true });
    return tryFileLock(path);
  } catch (error) {
    throw unwritable(path, error);
  }
}

/** The path of the lock for a text-file directory. */
export function lockPathOf({ path, key }: TextDirectory): string {
  return isRoot() ? join(rootLocks(), `${key}.lock`) : join(path, LOCK_FILE);
}

function rootLocks(): string {
  return join(RUNTIME_DIRS.find((directory) => existsSync(directory)) ?? "/", ROOT_LOCKS);
}
