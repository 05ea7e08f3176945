import { hasWorked } from "../../../last-run/has-worked.ts";
import type { LastRun, Waiting } from "../../../last-run/last-run.ts";
import { type LastRunReading, readLastRun } from "../../../last-run/read.ts";
import { hasReports } from "../../../ledger/has-reports.ts";
import { ownersBeforeText, ownersDropped } from "../../../ledger/owners-dropped.ts";
import { readOnly } from "../../../ledger/read-only.ts";
import { type ReportWeek, readReportWeek } from "../../../ledger/report-week.ts";
import { readWeekState, type WeekState } from "../../../ledger/week-state.ts";
import {
  BY_HAND,
  CLOSED,
  EXPLAIN,
  nextCommand,
  prospectOfClosed,
  SHOW_WEEK,
  STEP_COMMANDS,
  type WeekStep,
  weekSteps,
  whyNoRun,
} from "../../../ledger/week-steps.ts";
import { isWeekClean, type OpenCounts, openInWeek, socialVerdict } from "../../../ledger/week-verdict.ts";
import { OpsError } from "../../../platform/errors.ts";
import { unlessLate } from "../../../platform/time-limit.ts";
import {
  commandBeforeRun,
  factsOf,
  findLastRun,
  isFullSuccess,
  type LastRunFacts,
  weekOf,
} from "../../../reports/last-run.ts";
import { isRunDue, weekStage } from "../../../reports/week-stage.ts";
import { formatInstant } from "../../../time/instant.ts";
import { localTime } from "../../../time/local-time.ts";
import { reportDayEnd } from "../../../time/report-day.ts";
import { Temporal } from "../../../time/temporal.ts";
import { weekWindow } from "../../../time/week-window.ts";
import { checkAlertWebhook } from "../../../weekly/announce/check-webhook.ts";
import { ALERT_WEBHOOK, findWebhookSecret, loadAlertWebhook } from "../../../weekly/announce/settings.ts";
import type { Check } from "../../context/check.ts";
import type { CheckContext } from "../../context/check-context.ts";
import { fail, NEXT_MONDAY, notSetUp, pass, type Verdict, warn } from "../../finding.ts";
import { withDatabase } from "../peers/database.ts";
import { problemsOf, withoutSettings } from "../settings/configuration.ts";
import { isWeekClosed, renewalOf } from "./settled-week.ts";

const command = "weekly";
const ANNOUNCEMENT = "the announcement of a run that fails, to an alert webhook";
const LOOK = "opsctl reports status; opsctl deliveries look-up --all";
const MEND_FIRST = "opsctl reports status; mend what it names, then opsctl weekly";

/** How the last run of this host ended; `logDirOf` is null where the settings do not name the directory. */
export function lastRunCheck(logDirOf: (context: CheckContext) => Promise<string | null>): Check {
  return {
    command,
    name: "last run",
    async run(context) {
      const logDir = await logDirOf(context);
      if (logDir === null) return [];
      return [lastRunVerdict(await readLastRunNow(logDir, context), context.dependencies.nowMs())];
    },
  };
}

/**
 * What the last run of this host left, with what the ledger holds of its week now: since its end a person, another host
 * or the application may have changed it.
 *
 * Behaviour: as the run left it where the database does not answer, which another check tells.
 */
export async function readLastRunNow(logDir: string, context: CheckContext): Promise<LastRunReading> {
  const reading = readLastRun(logDir);
  if (reading.status !== "found") return reading;
  const run = aboutItsWeek(reading.run);
  const limitMs = context.dependencies.callLimitMs;
  const week = await unlessLate(
    { limitMs },
    () => weekNow(run, context),
    () => null,
  ).catch(() => null);
  return { status: "found", run: { ...run, week: week ?? run.week } };
}

async function weekNow({ window }: LastRun, context: CheckContext): Promise<WeekState | null> {
  let week: WeekState | null = null;
  if (window !== null)
    await withDatabase(command, context, async (sql) => {
      week = await readWeekState(sql, window);
      return [];
    });
  return week;
}

/** A run that did not get to the database has left of the week what the run before it knew: it is about its own. */
function aboutItsWeek(run: LastRun): LastRun {
  const own = weekOf(run);
  if (own === null || own.week === run.window?.week) return run;
  const { start, end, week } = own;
  const window = { start: formatInstant(start), end: formatInstant(end), week };
  return { ...run, window, retryableUntil: formatInstant(reportDayEnd(end)), week: null };
}

/** What is open in the last closed week, and until when it can be sent; `logDirOf` as for the last run. */
export function lastWeekCheck(logDirOf: (context: CheckContext) => Promise<string | null>): Check {
  return {
    command,
    name: "last week",
    run: (context) =>
      withDatabase(command, context, async (sql) => {
        const logDir = await logDirOf(context);
        return await readOnly(sql, async (tx) => {
          const week = await readReportWeek(tx, undefined);
          const state = await readWeekState(tx, week);
          const known = { week: week.week, isClean: isWeekClean(state) };
          const found = logDir === null ? null : findLastRun(logDir, known);
          const lastRun = found?.status === "found" ? found.run : null;
          const hasHostWorked = found?.status === "none" && found.hasHostWorked;
          return [lastWeekVerdict(state, { week, lastRun, hasRun: await hasReports(tx), hasHostWorked })];
        });
      }),
  };
}

/** Whether a failed run could be announced. */
export const ALERT_WEBHOOK_CHECK: Check = {
  command,
  name: "alert webhook",
  async run(context, signal) {
    const { env, file } = await context.environment(command);
    if (file.problem !== null) return withoutSettings(command);
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
  const facts = factsOf(run);
  const now = Temporal.Instant.fromEpochMilliseconds(nowMs);
  if (facts.status === "running") return goingOnVerdict(facts);
  const text = endText(facts, run);
  if (isFullSuccess(facts)) return pass(text);
  const isSuccess = facts.status === "success";
  if (run.window !== null && run.window.week !== weekWindow(now).week)
    return isSuccess ? pass(text) : warn(`${text}; another week has closed since then`, olderWeekMend(run));
  if (
    !isSuccess &&
    run.week !== null &&
    weekStage(run.week, { isRunDue: true, lastRun: facts, hasHostWorked: true, hasRun: true }) === "running"
  )
    return warn(`${text}; a run works on it`, SHOW_WEEK);
  return settledVerdict(text, run, now) ?? (isSuccess ? pass(text) : openRunVerdict(text, run, now));
}

/** How a run ended. */
function endText({ status, waiting, begunAt, code }: LastRunFacts, { window }: LastRun): string {
  const ofWeek = window === null ? "" : `, week of ${window.week}`;
  if (status === "ended" && waiting !== null)
    return `a run was killed while it waited ${causeText(waiting)} (São Paulo)`;
  if (status === "ended") {
    const at = begunAt === null ? "an unknown time" : `${localTime(begunAt)} (São Paulo)`;
    return `the last run began at ${at} and was killed`;
  }
  if (status === "success") return `the last run succeeded${ofWeek}`;
  const ended = status === "not_ready" ? "was not ready" : "failed";
  return `the last run ${ended}${ofWeek}${code === null ? "" : `, ${code}`}`;
}

/** The verdict where nothing is open that failed: only the last success is old. */
function settledVerdict(text: string, run: LastRun, now: Temporal.Instant): Verdict | null {
  const renewal = renewalOf(run, now);
  if (renewal === null) return null;
  const isSuccess = run.status === "success";
  const settled = `${text}; ${isSuccess ? "it left the networks out" : "nothing of that week is open any more"}`;
  // Without settings no run of this host has worked, so that another host has made the week.
  if (!hasWorked({ status: "found", run })) return pass(settled);
  if (renewal === "run")
    return warn(
      `${settled}; another run today renews the last success`,
      commandBeforeRun(factsOf(run)) ?? STEP_COMMANDS.run,
    );
  return warn(`${settled}; the next run on a Monday renews the last success`, NEXT_MONDAY);
}

/** The verdict where the run of the last closed week failed, and something of it is open. */
function openRunVerdict(text: string, run: LastRun, now: Temporal.Instant): Verdict {
  const { retryableUntil: until } = run;
  if (until === null)
    return fail(`${text}; it can be repeated on a Monday only, until midnight in São Paulo`, MEND_FIRST);
  const isClosed = isWeekClosed(run, now);
  const steps = stepsOf(run, { isClosed });
  const isUnread = isClosed && run.week === null;
  const prospect = isUnread ? `that week is closed: ${CLOSED}` : prospectOf(steps, isClosed ? null : until);
  // What it lacked, the other checks tell; what is done by hand, the line about the week.
  const isForRun = factsOf(run).begunAt === null && steps.includes("run");
  const beforeRun = isClosed ? null : commandBeforeRun(factsOf(run));
  return fail(
    `${text}; ${prospect.replace(`; ${BY_HAND}`, "")}`,
    beforeRun ?? (isForRun ? STEP_COMMANDS.run : mendOf(steps)),
  );
}

/** The command that comes next. */
function mendOf(steps: readonly WeekStep[]): string {
  return nextCommand(steps) ?? (steps.includes("run") ? MEND_FIRST : SHOW_WEEK);
}

/** What helps: another run, too, where the ledger does not hold all that failed, or was not read. */
function stepsOf(run: LastRun, { isClosed }: { isClosed: boolean }): WeekStep[] {
  const steps = run.week === null ? [] : weekSteps(run.week, { isClosed });
  const isForRun = !isClosed && (run.week === null || factsOf(run).beside !== null);
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

/** The verdict over a run that goes on, or waits before it begins. */
function goingOnVerdict({ waiting, begunAt }: LastRunFacts): Verdict {
  if (waiting !== null)
    return warn(
      `a run waits ${causeText(waiting)}, until ${localTime(waiting.until)} at most (São Paulo)`,
      "Look at the database: the run goes on, or ends, by itself",
    );
  const at = begunAt === null ? "an unknown time" : `${localTime(begunAt)} (São Paulo)`;
  return pass(`the last run began at ${at} and goes on`);
}

function causeText({ waitsFor, code, since }: Waiting): string {
  return `for the ${waitsFor} (${code}) since ${localTime(since)}`;
}

function repeatableUntil(instant: string): string {
  return `it can be repeated until ${localTime(instant)} (São Paulo)`;
}

/** What is known of the last closed week besides its ledger, as status and `reports status` know it. */
export type LastWeekFacts = {
  week: Pick<ReportWeek, "week" | "now" | "retryableUntil">;
  lastRun: LastRunFacts | null;
  /** Whether a run of this host has worked on another week. */
  hasHostWorked: boolean;
  /** False on a database in which no run has begun a report of any week. */
  hasRun: boolean;
};

/**
 * The verdict over the last closed week.
 *
 * Behaviour: nothing is open before the run of a Monday is due, and while a run works on it. On a closed week an owner
 *            without a report cannot be mended, so that it is no fault by itself where a run was made.
 */
export function lastWeekVerdict(state: WeekState, facts: LastWeekFacts): Verdict {
  const verdict = stageVerdict(state, facts);
  const beforeRun = facts.week.retryableUntil === null ? null : commandBeforeRun(facts.lastRun);
  return verdict.status === "pass" || beforeRun === null ? verdict : { ...verdict, mend: beforeRun };
}

function stageVerdict(state: WeekState, facts: LastWeekFacts): Verdict {
  const { week, lastRun, hasHostWorked, hasRun } = facts;
  switch (weekStage(state, { isRunDue: isRunDue(week, state), lastRun, hasHostWorked, hasRun })) {
    case "awaited":
      return pass(`the run for the week of ${week.week} is due at 08:00 (São Paulo)`);
    case "running":
      return pass(`a run works on the week of ${week.week}`);
    case "late":
      return noRunVerdict(facts);
    case "made":
      return madeVerdict(state, week);
  }
}

/** The verdict over a week that a run has made. */
function madeVerdict(state: WeekState, { week, retryableUntil: until }: LastWeekFacts["week"]): Verdict {
  const { reports, whatsapp, email } = openInWeek(state);
  const { missing = 0, ...otherReports } = reports;
  const social = socialVerdict(state);
  const others = [
    ...counted("reports", otherReports),
    ...counted("WhatsApp", whatsapp),
    ...counted("e-mail", email),
    ...(social === null ? [] : [`networks: ${social}`]),
  ];
  const parts = [...(missing === 0 ? [] : [`reports: ${missing} missing`]), ...others];
  if (parts.length === 0 && ownersDropped(state) !== null)
    return warn(
      `nothing is open in the week of ${week}; owners: ${state.owners}${ownersBeforeText(state)}`,
      EXPLAIN.ownersDropped,
    );
  if (parts.length === 0) return pass(`nothing is open in the week of ${week}`);
  const steps = weekSteps(state, { isClosed: until === null });
  const isBeyondHelp = until === null && others.length === 0;
  return (isBeyondHelp ? warn : fail)(
    `open in the week of ${week}: ${parts.join("; ")}; ${prospectOf(steps, until)}`,
    mendOf(steps),
  );
}

/** The verdict over a Monday on which no run of any host has begun; a host that is new was not there for it. */
function noRunVerdict({ week: { week, retryableUntil: until }, lastRun, hasRun }: LastWeekFacts): Verdict {
  const isNew = !hasRun && lastRun === null;
  if (isNew && until === null) return pass("no run yet; the first is on Monday at 08:00 (São Paulo)");
  const text = `no run has begun with the week of ${week}`;
  if (until !== null)
    return (isNew ? warn : fail)(
      `${text}; it can be made until ${localTime(until)} (São Paulo)`,
      STEP_COMMANDS.run,
    );
  return fail(
    `${text}; that week is closed: ${CLOSED}`,
    "See the end of /var/log/opsctl/weekly.log for what failed",
  );
}

function counted(name: string, counts: OpenCounts): string[] {
  const texts = Object.entries(counts).map(([state, count]) => `${count} ${state}`);
  return texts.length === 0 ? [] : [`${name}: ${texts.join(", ")}`];
}
