import { METRICS_FILE } from "../host/metrics-file-name.ts";
import { findTextDirectory, type TextDirectory } from "../host/text-directory.ts";
import type { Log } from "../platform/log/log.ts";
import { accountOf, becomeAccount, isRoot } from "../platform/privileges.ts";
import { renderReport } from "./exposition.ts";
import { type CollectDependencies, type CollectReport, collectMetrics } from "./run.ts";
import { lockRun } from "./run-lock.ts";
import { unwritable, writeMetricsFile } from "./write-metrics-file.ts";

/** The dependencies of a pass. */
export type PassDependencies = CollectDependencies & { log: Pick<Log, "error"> };

/** Reads all sources once; `text` is what the agent reads. Problems of sources are logged. */
export async function readMetrics(
  dependencies: PassDependencies,
): Promise<{ report: CollectReport; text: string }> {
  const report = await collectMetrics(dependencies);
  for (const { name, problem } of report.sources)
    if (problem !== null) dependencies.log.error(problem.message, { source: name, code: problem.code });
  return { report, text: renderReport(report) };
}

/**
 * Reads all sources once and replaces the metrics file; null when another run is in progress.
 *
 * Behaviour: writes as the account that the directory belongs to; root becomes that account for good.
 * Errors:    TEXTFILE_DIR_MISSING, TEXTFILE_DIR_UNTRUSTED, METRICS_FILE_UNWRITABLE.
 */
export async function writeMetrics(
  textfileDir: string,
  dependencies: PassDependencies,
): Promise<{ report: CollectReport; file: string } | null> {
  const directory = findTextDirectory(textfileDir);
  const lock = lockRun(directory);
  if (lock === null) return null;
  try {
    const { report, text } = await readMetrics(dependencies);
    const path = `${directory.path}/${METRICS_FILE}`;
    becomeOwner(directory, path);
    writeMetricsFile(path, text);
    return { report, file: `${textfileDir.replace(/\/+$/, "")}/${METRICS_FILE}` };
  } finally {
    lock.release();
  }
}

function becomeOwner({ uid }: TextDirectory, path: string): void {
  try {
    if (isRoot() && uid !== 0) becomeAccount(accountOf(uid));
  } catch (error) {
    throw unwritable(path, error);
  }
}
