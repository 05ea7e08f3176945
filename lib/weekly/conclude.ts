import { OWNERS_DROPPED, ownersDropped } from "../ledger/owners-dropped.ts";
import type { WeekState } from "../ledger/week-state.ts";
import { isWeekDone, socialVerdict } from "../ledger/week-verdict.ts";
import { formatInstant } from "../time/instant.ts";
import { isReportDay } from "../time/report-day.ts";
import type { WeeklyOptions } from "./context/dependencies.ts";
import { type Run, readClock, readWeek } from "./context/run.ts";
import { DATABASE_LOST, MONDAY_ENDED } from "./context/run-stop.ts";
import {
  type EditorialSummary,
  everySocialCallFailed,
  isClean,
  type WeeklySummary,
} from "./context/summary.ts";
import { databaseCode, isConnectionLoss, RUN_PATIENCE_MS } from "./database/refusals.ts";
import { writeHeartbeat } from "./heartbeat.ts";

/**
 * Step 15: the verdict over the run and over the week, and the success heartbeat when nothing is left undone.
 *
 * Behaviour: `finish` completes a summary with what the run knew from its start. A run that left something out is
 *            judged by its own steps; any other also by the week, so that a rerun repeats the verdict.
 * Source:    weekly report document, run flow 15 and Errors.
 */
export async function concludeRun(
  run: Run,
  editorials: EditorialSummary,
  finish: (rest: Partial<WeeklySummary>) => WeeklySummary,
): Promise<WeeklySummary> {
  const { options, tally, stop } = run;
  const finishedAt = await readClock(run, RUN_PATIENCE_MS).catch(() => null);
  if (finishedAt === null) stop.because(DATABASE_LOST);
  else if (!isReportDay(finishedAt)) stop.because(MONDAY_ENDED);
  const week = finishedAt === null ? null : await weekAtTheEnd(run);

  const areStepsClean = isClean(tally) && editorials.status !== "failed" && stop.reason() === null;
  const isProved = isRestricted(options) ? judgeCalls(run) : judgeWeek(run, week, areStepsClean);
  const succeeded = areStepsClean && isProved;

  const result = finish({
    finishedAt: finishedAt === null ? null : formatInstant(finishedAt),
    status: succeeded ? "success" : "failed",
    exitCode: succeeded ? 0 : 1,
    reports: tally.reports,
    social: tally.social,
    whatsapp: tally.whatsapp,
    email: tally.email,
    editorials,
    week,
    failures: tally.failures,
    failuresTruncated: tally.failuresTruncated,
    error: stop.reason(),
  });
  return succeeded && isWholeRun(options, editorials) ? withHeartbeat(run, result) : result;
}

/** The week as the ledger has it now; null, and a failure of a run that has to vouch for it, if that cannot be read. */
async function weekAtTheEnd(run: Run): Promise<WeekState | null> {
  try {
    return await readWeek(run);
  } catch (error) {
    const code = "WEEK_UNREADABLE";
    run.dependencies.log.error("The state of the week could not be read", {
      code,
      cause: databaseCode(error),
    });
    if (isConnectionLoss(error)) run.stop.because(DATABASE_LOST);
    else if (!isRestricted(run.options)) run.tally.failFirst({ step: "week", code });
    return null;
  }
}

/** The verdict over a run's own analysis calls; all of them failing is not one customer's expired token. */
function judgeCalls({ tally, stop }: Run): boolean {
  if (!everySocialCallFailed(tally)) return true;
  if (stop.reason() === null) tally.failFirst({ step: "social", code: "SOCIAL_ALL_CALLS_FAILED" });
  return false;
}

/** The verdict over everything in the week; what the run has not named itself gets a failure of its own. */
function judgeWeek(run: Run, week: WeekState | null, areStepsClean: boolean): boolean {
  const { tally, stop } = run;
  if (week === null) return false;
  const social = socialVerdict(week);
  const isDone = isWeekDone(week);
  warnOfDroppedOwners(run, week);
  // Nothing of the run's own explains the exit status then.
  if (!isDone && areStepsClean) tally.failFirst({ step: "week", code: "WEEK_OPEN" });
  if (social !== null && stop.reason() === null) tally.failFirst({ step: "social", code: social });
  return isDone && social === null;
}

/** A warning alone: whom the application gives no report is no failure of the run. */
function warnOfDroppedOwners({ tally, dependencies }: Run, week: WeekState): void {
  const before = ownersDropped(week);
  if (before === null) return;
  tally.fail({ step: "scope", code: OWNERS_DROPPED });
  dependencies.log.warn("Far fewer owners get a report than in the week before", {
    code: OWNERS_DROPPED,
    owners: week.owners,
    ownersBefore: before.owners,
    weekBefore: before.week,
    hint: "If that many did not leave, the application may have renamed what makes an owner: opsctl explain OWNERS_DROPPED",
  });
}

function withHeartbeat({ dependencies, options, tally }: Run, result: WeeklySummary): WeeklySummary {
  const problem = writeHeartbeat(options.logDir, result, result.finishedAt!);
  if (problem === null) return { ...result, heartbeat: "written" };

  tally.fail({ step: "heartbeat", code: "HEARTBEAT_UNWRITABLE" });
  dependencies.log.error("The success heartbeat could not be written", {
    code: "HEARTBEAT_UNWRITABLE",
    cause: problem,
    logDir: options.logDir,
    hint: "OPSCTL_LOG_DIR has to be an existing directory that this account may write to: opsctl doctor weekly",
  });
  const { failuresTruncated } = tally;
  return { ...result, heartbeat: "failed", status: "failed", exitCode: 1, failuresTruncated };
}

/** A run that left something out cannot vouch for the week. */
function isRestricted({ tenantId, skipWhatsapp, skipEmail, skipEditorials }: WeeklyOptions): boolean {
  return tenantId !== null || skipWhatsapp || skipEmail || skipEditorials;
}

/** A run that left something out proves nothing about it. */
function isWholeRun(options: WeeklyOptions, editorials: EditorialSummary): boolean {
  const isDrained = editorials.status === "completed" || editorials.status === "disabled";
  return !isRestricted(options) && !options.withoutSocial && isDrained;
}
