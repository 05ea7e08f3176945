import type { LastRun, Waiting } from "../../../last-run/last-run.ts";
import { hasEnded } from "../../../last-run/process-mark.ts";
import { type LastRunReading, readLastRun } from "../../../last-run/read.ts";
import { hasReports } from "../../../ledger/has-reports.ts";
import type { WeekState } from "../../../ledger/week-state.ts";
import {
  CLOSED,
  nextCommand,
  prospectOfClosed,
  SHOW_WEEK,
  STEP_COMMANDS,
  type WeekStep,
  weekSteps,
  whyNoRun,
} from "../../../ledger/week-steps.ts";
import { type OpenCounts, openInWeek } from "../../../ledger/week-verdict.ts";
import { OpsError } from "../../../platform/errors.ts";
import { formatInstant } from "../../../time/instant.ts";
import { localTime } from "../../../time/local-time.ts";
import { isReportDay, reportDayEnd } from "../../../time/report-day.ts";
import { isReportRunDue } from "../../../time/report-run-due.ts";
import { Temporal } from "../../../time/temporal.ts";
import { weekWindow } from "../../../time/week-window.ts";
import { checkAlertWebhook } from "../../../weekly/announce/check-webhook.ts";
import { ALERT_WEBHOOK, findWebhookSecret, loadAlertWebhook } from "../../../weekly/announce/settings.ts";
import { weeklyStore } from "../../../weekly/database/store.ts";
import type { Check } from "../../context/check.ts";
import type { CheckContext } from "../../context/check-context.ts";
import { fail, NEXT_MONDAY, notSetUp, pass, type Verdict, warn } from "../../finding.ts";
import { withDatabase } from "../peers/database.ts";
import { problemsOf } from "../settings/configuration.ts";
import { hasFailedBeside, isWeekClosed, renewalOf } from "./settled-week.ts";

const command = "weekly";
const ANNOUNCEMENT = "the announcement of a run that fails, to an alert webhook";
const LOOK = "opsctl reports status; opsctl deliveries look-up --all";

/** How the last run of this host ended; `logDirOf` is null where the settings do not name the directory. */
export function lastRunCheck(logDirOf: (context: CheckContext) => Promise<string | null>): Check {
  return {
    command,
    name: "last run",
    async run(context) {
      const logDir = await logDirOf(context);
      if (logDir === null) return [];
      return [lastRunVerdict(readLastRun(logDir), context.dependencies.nowMs())];
    },
  };
}

/** What is open in the last closed week, and until when it can be sent; `logDirOf` as for the last run. */
export function lastWeekCheck(logDirOf: (context: CheckContext) => Promise<string | null>): Check {
  return {
    command,
    name: "last week",
    run: (context) =>
      withDatabase(command, context, async (sql) => {
        const store = weeklyStore(sql);
        const now = Temporal.Instant.from(await store.now());
        const { start, end, week } = weekWindow(now);
        const state = await store.weekState({ start: formatInstant(start), end: formatInstant(end) });
        const logDir = await logDirOf(context);
        const isRunning = logDir !== null && goesOn(readLastRun(logDir));
        return [lastWeekVerdict(state, { week, now, isRunning, isNew: !(await hasReports(sql)) })];
      }),
  };
}

function goesOn(reading: LastRunReading): boolean {
  return reading.status === "found" && reading.run.status === "running" && !hasEnded(reading.run.process);
}

/** Whether a failed run could be announced. */
export const ALERT_WEBHOOK_CHECK: Check = {
  command,
  name: "alert webhook",
  async run(context, signal) {
    const { env, file } = await context.environment(command);
    try {
      const url = await loadAlertWebhook(env);
      if (url === null) return [notSetUp(ANNOUNCEMENT, `Set ${ALERT_WEBHOOK} in ${file.path}`)];
      const secret = await findWebhookSecret(env);
      const { callLimitMs } = context.dependencies;
      const state = await checkAlertWebhook({ url, secret, timeoutMs: callLimitMs, signal });
      if (state.status === "ready") return [pass("the webhook answers and takes the secret")];
      const mend =
        state.cause === "http_401"
          ? "Make WEBHOOK_SECRET here the one of the webhook: opsctl secret set WEBHOOK_SECRET, then systemctl reload opsctl-webhook.service"
          : `systemctl status opsctl-webhook; or correct ${ALERT_WEBHOOK} in ${file.path}`;
      return [fail(`ANNOUNCE_FAILED: a failed run could not be announced, ${state.cause}`, mend)];
    } catch (error) {
      if (error instanceof OpsError) return problemsOf(error, { env, file });
      throw error;
    }
  },
};

/** The verdict over what the last run of this host left. */
export function lastRunVerdict(reading: LastRunReading, nowMs: number): Verdict {
  if (reading.status === "none") return pass("no run has left a record on this host");
  if (reading.status === "unreadable")
    return fail(`the record of the last run cannot be read: ${reading.code}`, "opsctl weekly replaces it");
  const { run } = reading;
  const now = Temporal.Instant.fromEpochMilliseconds(nowMs);
  if (run.status === "running") return runningVerdict(run, now);
  if (run.status === "success") return pass(`the last run succeeded${ofWeek(run)}`);
  const text = `the last run failed${ofWeek(run)}${run.error === null ? "" : `, ${run.error.code}`}`;
  if (run.window !== null && run.window.week !== weekWindow(now).week)
    return warn(`${text}; another week has closed since then`, olderWeekMend(run));
  return settledVerdict(text, run, now) ?? openRunVerdict(text, run, now);
}

/** The verdict where nothing is open that failed: only the last success is old. */
function settledVerdict(text: string, run: LastRun, now: Temporal.Instant): Verdict | null {
  const renewal = renewalOf(run, now);
  if (renewal === null) return null;
  const settled = `${text}; nothing of that week is open any more`;
  if (renewal === "run") return warn(`${settled}; another run today makes it a success`, STEP_COMMANDS.run);
  return warn(`${settled}; the next run on a Monday renews the last success`, NEXT_MONDAY);
}

/** The verdict where the run of the last closed week failed, and something of it is open. */
function openRunVerdict(text: string, run: LastRun, now: Temporal.Instant): Verdict {
  const { retryableUntil: until } = run;
  const mend = "See the end of /var/log/opsctl/weekly.log when cron started it; opsctl reports status";
  if (until === null)
    return fail(`${text}; it can be repeated on a Monday only, until midnight in São Paulo`, mend);
  const isClosed = isWeekClosed(run, now);
  const steps = stepsOf(run, { isClosed });
  const isUnread = isClosed && run.week === null;
  const prospect = isUnread ? `that week is closed: ${CLOSED}` : prospectOf(steps, isClosed ? null : until);
  return fail(`${text}; ${prospect}`, nextCommand(steps) ?? mend);
}

/** What helps: another run, too, where the ledger does not hold all that failed, or was not read. */
function stepsOf(run: LastRun, { isClosed }: { isClosed: boolean }): WeekStep[] {
  const steps = run.week === null ? [] : weekSteps(run.week, { isClosed });
  const isForRun = !isClosed && (run.week === null || hasFailedBeside(run));
  return isForRun && !steps.includes("run") ? ["run", ...steps] : steps;
}

/** What can still come of an open week; `until` is null where it is closed. */
function prospectOf(steps: readonly WeekStep[], until: string | null): string {
  if (until === null) return `that week is closed: ${prospectOfClosed(steps)}`;
  return whyNoRun(steps) ?? repeatableUntil(until);
}

/** What is left to do about a week behind the last closed one; null where nothing helps it any more. */
function olderWeekMend({ week }: LastRun): string | null {
  if (week === null) return LOOK;
  const steps = weekSteps(week, { isClosed: true });
  if (steps.length === 0) return null;
  // What a run worked on then has failed by now, or is in doubt.
  return steps.length > 1 || steps[0] === "wait" ? LOOK : nextCommand(steps);
}

function runningVerdict(run: LastRun, now: Temporal.Instant): Verdict {
  if (run.waiting !== null) return waitingVerdict(run, run.waiting, now);
  const at = run.begunAt === null ? "an unknown time" : `${localTime(run.begunAt)} (São Paulo)`;
  const begun = `the last run began at ${at}`;
  if (!hasEnded(run.process)) return pass(`${begun} and goes on`);
  return fail(`${begun} and was killed: it has left no end`, afterKill(now));
}

/** Only a Monday's run sends anything. */
function afterKill(now: Temporal.Instant): string {
  return isReportDay(now) ? `${SHOW_WEEK}, then ${STEP_COMMANDS.run}` : SHOW_WEEK;
}

function waitingVerdict(
  run: LastRun,
  { waitsFor, code, since, until }: Waiting,
  now: Temporal.Instant,
): Verdict {
  const cause = `for the ${waitsFor} (${code}) since ${localTime(since)}`;
  if (!hasEnded(run.process))
    return warn(
      `a run waits ${cause}, until ${localTime(until)} at most (São Paulo)`,
      "Look at the database: the run goes on, or ends, by itself",
    );
  return fail(`a run was killed while it waited ${cause} (São Paulo)`, afterKill(now));
}

function ofWeek({ window }: LastRun): string {
  return window === null ? "" : `, week of ${window.week}`;
}

function repeatableUntil(instant: string): string {
  return `it can be repeated until ${localTime(instant)} (São Paulo)`;
}

/** What is known of the last closed week besides its ledger: `isNew` when no run has begun a report of any week. */
export type LastWeekFacts = { week: string; now: Temporal.Instant; isRunning: boolean; isNew: boolean };

/**
 * The verdict over the last closed week.
 *
 * Behaviour: an owner without a report is open once the run of Monday is due and no run works on it: before, no owner
 *            has one. On a closed week that cannot be mended, so that it is no fault by itself where a run was made.
 */
export function lastWeekVerdict(state: WeekState, { week, now, ...facts }: LastWeekFacts): Verdict {
  const { reports, whatsapp, email } = openInWeek(state);
  const { failed = 0, missing = 0 } = reports;
  const until = isReportDay(now) ? formatInstant(reportDayEnd(now)) : null;
  if (facts.isNew && missing > 0 && !facts.isRunning) return newVerdict(now, until);
  const isMissing = missing > 0 && isMissingOpen(state, { now, ...facts });
  if (isMissing && !hasBegun(state)) return noRunVerdict(week, until);
  const missed = isMissing ? [`reports: ${missing} missing`] : [];
  const others = [
    ...(failed === 0 ? [] : [`reports: ${failed} failed`]),
    ...counted("WhatsApp", whatsapp),
    ...counted("e-mail", email),
  ];
  const parts = [...missed, ...others];
  if (parts.length === 0) return pass(`nothing is open in the week of ${week}`);
  const steps = weekSteps(state, { isClosed: until === null });
  const mend = steps.includes("run")
    ? "opsctl reports status; mend what it names, then opsctl weekly"
    : SHOW_WEEK;
  const isBeyondHelp = until === null && others.length === 0;
  return (isBeyondHelp ? warn : fail)(
    `open in the week of ${week}: ${parts.join("; ")}; ${prospectOf(steps, until)}`,
    nextCommand(steps) ?? mend,
  );
}

function isMissingOpen(
  { reports: { running } }: WeekState,
  { now, isRunning }: Omit<LastWeekFacts, "week" | "isNew">,
): boolean {
  return !isReportDay(now) || (isReportRunDue(now) && running === 0 && !isRunning);
}

function hasBegun({ reports: { completed, running, failed } }: WeekState): boolean {
  return completed + running + failed > 0;
}

/** The verdict before the first run of all: no week is owed yet, but the first Monday can still have its run. */
function newVerdict(now: Temporal.Instant, until: string | null): Verdict {
  const text = "no run of any week has begun yet";
  if (until === null || !isReportRunDue(now)) return pass(text);
  return pass(`${text}; ${STEP_COMMANDS.run} can begin one until ${localTime(until)} (São Paulo)`);
}

/** The verdict over a Monday on which no run of any host has begun. */
function noRunVerdict(week: string, until: string | null): Verdict {
  const text = `no run has begun with the week of ${week}`;
  if (until === null)
    return fail(
      `${text}; that week is closed: ${CLOSED}`,
      "See the end of /var/log/opsctl/weekly.log for what failed",
    );
  return fail(`${text}; ${repeatableUntil(until)}`, STEP_COMMANDS.run);
}

function counted(name: string, counts: OpenCounts): string[] {
  const texts = Object.entries(counts).map(([state, count]) => `${count} ${state}`);
  return texts.length === 0 ? [] : [`${name}: ${texts.join(", ")}`];
}
