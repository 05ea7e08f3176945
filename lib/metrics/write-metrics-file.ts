import { readdirSync, unlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { OpsError } from "../platform/errors.ts";
import { isLeftover, writeFileAtomic } from "../platform/files/atomic-file.ts";

/** The agent, another account, reads the file. */
const MODE = 0o644;

/**
 * Replaces the metrics file; a reader sees the old one or the whole new one.
 *
 * Behaviour: the temporary file's name does not end in `.prom`, or the agent would read it too. Removes the temporary
 *            files of killed runs, so call it only while holding the run's lock.
 * Errors:    METRICS_FILE_UNWRITABLE; the old file is unchanged.
 */
export function writeMetricsFile(path: string, text: string): void {
  try {
    writeFileAtomic(path, text, { mode: MODE });
    removeLeftovers(path);
  } catch (error) {
    throw unwritable(path, error);
  }
}

/** The failure to write into the text-file directory. */
export function unwritable(path: string, error: unknown): OpsError {
  const reason = error instanceof OpsError ? error.message : (error as NodeJS.ErrnoException).code;
  const ownHint = error instanceof OpsError ? error.hint : undefined;
  return new OpsError({
    code: "METRICS_FILE_UNWRITABLE",
    message: `Cannot write ${path}: ${reason ?? "the file system failed"}; the file is as it was`,
    hint:
      ownHint ?? `Run as an account that may write into ${dirname(path)}, and see that its disk is not full`,
    cause: error,
  });
}

function removeLeftovers(path: string): void {
  const folder = dirname(path);
  for (const name of readdirSync(folder)) {
    if (!isLeftover(name, path)) continue;
    try {
      unlinkSync(join(folder, name));
    } catch {
      // The next run tries again; the metrics are in place.
    }
  }
}
