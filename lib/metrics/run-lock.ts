import { lstatSync, statSync } from "node:fs";
import { join } from "node:path";
import { OpsError } from "../platform/errors.ts";
import { type FileLock, tryFileLock } from "../platform/file-lock.ts";
import { unwritable } from "./textfile.ts";

/** Name of the lock's file inside the text-file directory; one that ended in `.prom` would be read as metrics. */
export const LOCK_FILE = ".opsctl-collect.lock";

/**
 * Keeps two runs that write into one directory apart; null when another run is in progress.
 *
 * Errors: TEXTFILE_DIR_MISSING when the directory is not there, which is the operator's to see and is not created;
 *         METRICS_FILE_UNWRITABLE when the lock's file cannot be made or used.
 */
export function lockRun(directory: string): FileLock | null {
  if (!isDirectory(directory)) throw directoryMissing(directory);
  const path = join(directory, LOCK_FILE);
  try {
    // Root must not be led elsewhere by a link that somebody planted here.
    if (lstatSync(path, { throwIfNoEntry: false })?.isFile() === false)
      throw Object.assign(new Error("not a regular file"), { code: "ELOOP" });
    return tryFileLock(path);
  } catch (error) {
    throw unwritable(path, error);
  }
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

function directoryMissing(directory: string): OpsError {
  return new OpsError({
    code: "TEXTFILE_DIR_MISSING",
    message: `Cannot write metrics: directory ${directory} is not there`,
    hint: "Set TEXTFILE_DIR to the agent's text-file directory, or create it: install -d -m 0755 <directory>",
  });
}
