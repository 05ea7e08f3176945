import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { METRICS_FILE } from "../host/metric-names.ts";
import { findTextDirectory, type TextDirectory } from "../host/text-directory.ts";
import { OpsError } from "../platform/errors.ts";
import { writeFileAtomic } from "../platform/files/atomic-file.ts";
import { tryFileLock } from "../platform/files/file-lock.ts";
import { accountOf, becomeAccount, isRoot } from "../platform/privileges.ts";
import { renderReport } from "./render.ts";
import { type CollectDependencies, type CollectReport, collectMetrics } from "./run.ts";

/**
 * Reads all sources once and replaces the metrics file; null when another run is in progress.
 *
 * Behaviour: writes as the account that the directory belongs to; root becomes that account for good. The temporary
 *            file's name does not end in `.prom`, or the agent would read it too.
 * Errors:    TEXTFILE_DIR_MISSING, TEXTFILE_DIR_UNTRUSTED; METRICS_FILE_UNWRITABLE, with the old file unchanged.
 */
export async function writeMetrics(
  textfileDir: string,
  dependencies: CollectDependencies,
): Promise<{ report: CollectReport; file: string } | null> {
  const directory = findTextDirectory(textfileDir);
  const lockPath = lockPathOf(directory);
  const lock = writing(lockPath, () => {
    if (isRoot()) mkdirSync(dirname(lockPath), { mode: 0o700, recursive: true });
    return tryFileLock(lockPath);
  });
  if (lock === null) return null;
  try {
    const report = await collectMetrics(dependencies);
    const path = join(directory.path, METRICS_FILE);
    writing(path, () => {
      if (isRoot() && directory.uid !== 0) becomeAccount(accountOf(directory.uid));
      // The agent, another account, reads the file.
      writeFileAtomic(path, renderReport(report), { mode: 0o644 });
    });
    return { report, file: join(textfileDir, METRICS_FILE) };
  } finally {
    lock.release();
  }
}

/**
 * The path of the lock that keeps two runs for one directory apart.
 *
 * Behaviour: root's is in a directory of root's, another account's beside the metrics. So a run of root and one of the
 *            directory's owner do not exclude each other; each still replaces the whole file.
 */
export function lockPathOf({ path }: TextDirectory): string {
  if (!isRoot()) return join(path, ".opsctl-collect.lock");
  return `/run/opsctl-collect/${path.replaceAll("/", "_")}.lock`;
}

function writing<T>(path: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    const own = error instanceof OpsError ? error : null;
    const reason = own?.message ?? (error as NodeJS.ErrnoException).code ?? "the file system failed";
    throw new OpsError({
      code: "METRICS_FILE_UNWRITABLE",
      message: `Cannot write ${path}: ${reason}; the metrics are as they were`,
      hint:
        own?.hint ??
        `Run as an account that may write into ${dirname(path)}, and see that its disk is not full`,
      cause: error,
    });
  }
}
