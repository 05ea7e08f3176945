import { formatInstant } from "../time/instant.ts";
import { isReportDay } from "../time/report-day.ts";
import { type Run, readClock } from "./context/run.ts";
import { DATABASE_LOST, MONDAY_ENDED } from "./context/run-stop.ts";
import {
  type EditorialSummary,
  everySocialCallFailed,
  isClean,
  type WeeklySummary,
} from "./context/summary.ts";
import { writeHeartbeat } from "./heartbeat.ts";

/**
 * Step 15: the verdict over all counters, and the success heartbeat when nothing failed and nothing was left out.
 *
 * Behaviour: `finish` completes a summary with what the run knew from its start.
 * Source:    weekly report document, run flow 15 and Errors.
 */
export async function concludeRun(
  run: Run,
  editorials: EditorialSummary,
  finish: (rest: Partial<WeeklySummary>) => WeeklySummary,
): Promise<WeeklySummary> {
  const { dependencies, options, tally, stop } = run;
  if (everySocialCallFailed(tally) && stop.reason() === null)
    tally.failFirst({ step: "social", code: "SOCIAL_ALL_CALLS_FAILED" });

  const finishedAt = await readClock(run).catch(() => null);
  if (finishedAt === null) stop.because(DATABASE_LOST);
  else if (!isReportDay(finishedAt)) stop.because(MONDAY_ENDED);
  const succeeded = isClean(tally) && editorials.status !== "failed" && stop.reason() === null;

  const result = finish({
    finishedAt: finishedAt === null ? null : formatInstant(finishedAt),
    status: succeeded ? "success" : "failed",
    exitCode: succeeded ? 0 : 1,
    reports: tally.reports,
    social: tally.social,
    whatsapp: tally.whatsapp,
    email: tally.email,
    editorials,
    failures: tally.failures,
    failuresTruncated: tally.failuresTruncated,
    error: stop.reason(),
  });
  if (!succeeded || !isWholeRun(run, editorials)) return result;

  const problem = writeHeartbeat(options.logDir, result, result.finishedAt!);
  if (problem === null) return { ...result, heartbeat: "written" };

  tally.fail({ step: "heartbeat", code: "HEARTBEAT_UNWRITABLE" });
  dependencies.log.error("The success heartbeat could not be written", {
    code: "HEARTBEAT_UNWRITABLE",
    cause: problem,
    logDir: options.logDir,
    hint: "OPSCTL_LOG_DIR has to be an existing directory that this user may write to",
  });
  const { failuresTruncated } = tally;
  return { ...result, heartbeat: "failed", status: "failed", exitCode: 1, failuresTruncated };
}

/** A run that left something out proves nothing about it. */
function isWholeRun({ options }: Run, editorials: EditorialSummary): boolean {
  const { tenantId, skipWhatsapp, skipEmail, skipEditorials } = options;
  const drained = editorials.status === "completed" || editorials.status === "disabled";
  return tenantId === null && !skipWhatsapp && !skipEmail && !skipEditorials && drained;
}
