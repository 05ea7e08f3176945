import { hasWorked } from "../last-run/has-worked.ts";
import type { LastRun } from "../last-run/last-run.ts";
import type { LastRunReading } from "../last-run/read.ts";
import { openDeliveries } from "../last-run/week-counts.ts";
import { OWNERS_DROPPED, ownersBeforeText } from "../ledger/owners-dropped.ts";
import {
  CLOSED,
  EXPLAIN,
  nextCommand,
  SHOW_WEEK,
  STEP_COMMANDS,
  type WeekStep,
  weekSteps,
} from "../ledger/week-steps.ts";
import { isWeekClean, type OpenCounts } from "../ledger/week-verdict.ts";
import type { Fix } from "../platform/errors.ts";
import { factsOf, isFullSuccess, type LastRunFacts, lastRunOfWeek, weekOf } from "../reports/last-run.ts";
import type { LedgerWeek } from "../reports/ledger-week.ts";
import { decisionBeforeRun, judgeWeek, renewalAfter, type WeekJudgement } from "../reports/week-judgement.ts";
import { isWorkedOn } from "../reports/week-stage.ts";
import { FIRST_TO_COME, makeText, RUN_STATES, repeatText } from "../reports/week-words.ts";
import { formatInstant } from "../time/instant.ts";
import { localTime } from "../time/local-time.ts";
import { isReportDay, reportDayEnd } from "../time/report-day.ts";
import { isReportRunDue } from "../time/report-run-due.ts";
import { Temporal } from "../time/temporal.ts";
import { isToCome } from "../time/to-come.ts";
import { weekWindow } from "../time/week-window.ts";
import {
  type CheckResult,
  command,
  fail,
  type Health,
  needsDoctor,
  note,
  pass,
  SET_CLOCK,
  untilMonday,
  warn,
} from "./result.ts";

const DAY_MS = 86_400_000;
/** There is a run every week; one more day to notice a missing one. */
const SUCCESS_LIMIT_DAYS = 8;

const NO_RUN_YET = "NO_RUN_YET";
const RUN = command(STEP_COMMANDS.run);
const FIX_FIRST = command(SHOW_WEEK, "Fix what it names, then run opsctl weekly:");
const OLDER_WEEK = command(STEP_COMMANDS["look-up"], "See what is open with opsctl reports status, then:");
const SEE_LOG = "See the end of /var/log/opsctl/weekly.log for what failed";

/**
 * What is known of the weekly run on this host.
 *
 * Shape: `ledger` is the last closed week, null where the database was not read; `successAgeMs` is the age of the last
 *        full success, null without one, undefined where its file could not be read.
 */
export type WeeklyReadings = {
  ledger: LedgerWeek | null;
  lastRun: LastRunReading;
  successAgeMs: number | null | undefined;
};

/** The health of the weekly run: the last closed week, and what is wrong with the last run and the last success. */
export function weeklyHealth(
  ledger: LedgerWeek,
  readings: Omit<WeeklyReadings, "ledger">,
  now: number,
): Health {
  const all = { ledger, ...readings };
  const judgement = judgementOf(ledger, all);
  const others = [lastRunResult(all, now), ...lastSuccessResults(all, now)];
  // The line of the week says where no run has succeeded yet.
  const shown = others.filter(({ status, code }) => status !== "pass" && code !== NO_RUN_YET);
  return {
    lines: [lastWeekResult(ledger, all), ...shown].map((result) => [result]),
    facts: {
      ...{ week: ledger.week, clean: ledger.clean, open: openCount(judgement), owners: ledger.counts.owners },
      ...{ retryableUntil: ledger.retryableUntil, lastRun: judgement.run },
    },
  };
}

/** The health where the ledger was not read, which `problem` says: what the last run of this host left. */
export function healthWithoutLedger(problem: CheckResult, lastRun: LastRunReading, now: number): Health {
  if (lastRun.status === "none") return { lines: [[problem]], facts: null };
  const result = lastRunResult({ ledger: null, lastRun }, now);
  if (lastRun.status === "unreadable") return { lines: [[problem], [result]], facts: null };
  const { window, week, retryableUntil } = lastRun.run;
  const open = week === null ? null : openDeliveries(week);
  const facts = { week: window?.week ?? null, open, retryableUntil };
  return {
    lines: [[problem], [result]],
    facts: { ...facts, clean: null, owners: null, lastRun: null },
  };
}

/**
 * The result for the last closed week.
 *
 * Behaviour: nothing is open before the run of a Monday is due, and while a run works on the week. On a closed week an
 *            owner without a report cannot be helped, so that it is only a warning where a run was made.
 */
export function lastWeekResult(ledger: LedgerWeek, readings: Omit<WeeklyReadings, "ledger">): CheckResult {
  const judgement = judgementOf(ledger, readings);
  const result = weekResult(judgement, ledger);
  const isDecided = result.status === "pass" || judgement.decision === null;
  return isDecided ? result : { ...result, fix: command(judgement.decision!) };
}

function judgementOf(ledger: LedgerWeek, { lastRun, successAgeMs }: Omit<WeeklyReadings, "ledger">) {
  const week = { week: ledger.week, isClean: ledger.clean, isHeartbeatGone: successAgeMs === null };
  return judgeWeek(ledger, lastRunOfWeek(lastRun, week));
}

function weekResult(judgement: WeekJudgement, ledger: LedgerWeek): CheckResult {
  const { week, counts } = ledger;
  switch (judgement.status) {
    case "awaited":
      return pass(`week of ${week}: the run is due at 08:00 (São Paulo)`);
    case "running":
      return pass(`week of ${week}: ${workText(judgement.run)}`);
    case "late":
      return noRunResult(judgement, ledger);
    case "open":
      return openResult(judgement, ledger);
    case "clean": {
      const owners = `${counts.owners} ${counts.owners === 1 ? "owner" : "owners"}${ownersBeforeText(counts)}`;
      const text = `week of ${week}: clean, ${owners}`;
      return judgement.dropped === null
        ? pass(text)
        : warn(OWNERS_DROPPED, text, command(EXPLAIN.ownersDropped));
    }
  }
}

function workText(run: LastRunFacts | null): string {
  if (run?.status !== "running") return "a run works on it";
  if (run.waiting !== null) return "its run waits to begin";
  return run.begunAt === null
    ? "the run goes on"
    : `the run goes on since ${localTime(run.begunAt)} (São Paulo)`;
}

/** No run of any host has begun with the week; a host that is new was not there for it. */
function noRunResult({ isFirst }: WeekJudgement, { week, retryableUntil }: LedgerWeek): CheckResult {
  if (isFirst && retryableUntil === null) return pass(FIRST_TO_COME);
  const reason = `week of ${week}: no run has begun; ${makeText(retryableUntil)}`;
  if (retryableUntil === null) return needsDoctor(fail("WEEK_NOT_RUN", reason, SEE_LOG));
  return needsDoctor((isFirst ? warn : fail)("WEEK_NOT_RUN", reason, RUN));
}

function openResult(
  { open, social, steps }: WeekJudgement,
  { week, retryableUntil }: LedgerWeek,
): CheckResult {
  const { missing = 0, ...otherReports } = open.reports;
  const others = [
    ...counted("reports", otherReports),
    ...counted("WhatsApp", open.whatsapp),
    ...counted("e-mail", open.email),
    ...(social === null ? [] : [`networks: ${social}`]),
  ];
  const parts = [...(missing === 0 ? [] : [`reports: ${missing} missing`]), ...others];
  const isBeyondHelp = retryableUntil === null && others.length === 0;
  const reason = `week of ${week}: OPEN: ${parts.join("; ")}; ${repeatText(steps, retryableUntil)}`;
  return (isBeyondHelp ? warn : fail)("WEEK_OPEN", reason, fixOf(steps));
}

function counted(name: string, counts: OpenCounts): string[] {
  const texts = Object.entries(counts).map(([state, count]) => `${count} ${state}`);
  return texts.length === 0 ? [] : [`${name}: ${texts.join(", ")}`];
}

function openCount({ open }: WeekJudgement): number {
  const counts = Object.values(open).flatMap((of) => Object.values(of));
  return counts.reduce((sum, count) => sum + count, 0);
}

/** The command that comes next for an open week, given the steps that help it. */
function fixOf(steps: readonly WeekStep[]): Fix {
  const next = nextCommand(steps);
  if (next !== null) return command(next);
  return steps.includes("run") ? FIX_FIRST : command(SHOW_WEEK);
}

/** The result for the last run of this host, by what the ledger holds of its week now. */
export function lastRunResult(
  readings: Pick<WeeklyReadings, "ledger" | "lastRun">,
  nowMs: number,
): CheckResult {
  const reading = withCountsNow(readings);
  if (reading.status === "none") return pass("no run has left a record on this host");
  if (reading.status === "unreadable")
    return fail(
      reading.code === "LAST_RUN_MALFORMED" ? reading.code : "LAST_RUN_UNREADABLE",
      `the record of the last run cannot be read: ${reading.code}`,
      command(STEP_COMMANDS.run, "The next run replaces it:"),
    );
  const { run } = reading;
  const facts = factsOf(run);
  const now = Temporal.Instant.fromEpochMilliseconds(nowMs);
  if (facts.status === "running") return runningResult(facts);
  const text = `${endText(facts)}${run.window === null ? "" : `, week of ${run.window.week}`}`;
  if (isFullSuccess(facts)) return pass(text);
  const isSuccess = facts.status === "success";
  if (run.window !== null && run.window.week !== weekWindow(now).week)
    return isSuccess ? pass(text) : olderWeekResult(text, run);
  if (!isSuccess && run.week !== null && isWorkedOn(run.week, facts))
    return note("LAST_RUN_FAILED", `${text}; a run works on it`);
  return (
    settledResult(text, run, now) ??
    (isSuccess ? pass(text) : failedResult(text, run, now, readings.ledger !== null))
  );
}

/** The record of the last run, with the counts of its week as the ledger has them. */
function withCountsNow({ ledger, lastRun }: Pick<WeeklyReadings, "ledger" | "lastRun">): LastRunReading {
  if (lastRun.status !== "found") return lastRun;
  const run = aboutItsWeek(lastRun.run);
  const week = ledger !== null && run.window?.week === ledger.week ? ledger.counts : run.week;
  return { status: "found", run: { ...run, week } };
}

/** A run that did not get to the database has the counts of the run before it: its week is another one. */
function aboutItsWeek(run: LastRun): LastRun {
  const own = weekOf(run);
  if (own === null || own.week === run.window?.week) return run;
  const { start, end, week } = own;
  const window = { start: formatInstant(start), end: formatInstant(end), week };
  return { ...run, window, retryableUntil: formatInstant(reportDayEnd(end)), week: null };
}

/** How a run ended. */
function endText({ status, waiting, code }: LastRunFacts): string {
  if (status === "ended" && waiting !== null)
    return `the run was killed while it waited for the ${waiting.waitsFor} (${waiting.code})`;
  return `the run ${RUN_STATES[status]}${code === null ? "" : ` (${code})`}`;
}

function runningResult({ waiting, begunAt }: LastRunFacts): CheckResult {
  if (waiting === null)
    return pass(`the run goes on${begunAt === null ? "" : ` since ${localTime(begunAt)} (São Paulo)`}`);
  const { waitsFor, code, since, until } = waiting;
  const [from, to] = [localTime(since), localTime(until)];
  return needsDoctor(
    warn(
      "RUN_WAITING",
      `a run waits for the ${waitsFor} (${code}) since ${from}, until ${to} at most (São Paulo)`,
      "Look at the database: the run goes on, or ends, without you",
    ),
  );
}

/** The result where nothing is open that failed: only the last success is old. */
function settledResult(text: string, run: LastRun, now: Temporal.Instant): CheckResult | null {
  const renewal = renewalOf(run, now);
  if (renewal === null) return null;
  const isSuccess = run.status === "success";
  const settled = `${text}; ${isSuccess ? "it left the networks out" : "nothing of that week is open any more"}`;
  // Without settings no run of this host has worked, so that another host has made the week.
  if (!hasWorked({ status: "found", run })) return pass(settled);
  const decision = decisionOf(run);
  if (renewal === "run" && decision !== null)
    return warn("HEARTBEAT_STALE", `${settled}; no run begins before this is decided`, decision);
  if (renewal === "run")
    return warn("HEARTBEAT_STALE", `${settled}; another run today renews the last success`, RUN);
  return untilMonday("HEARTBEAT_STALE", `${settled}; the next run on a Monday renews the last success`);
}

/** The result where the run of the last closed week failed; what is open is the result of the week, where it is known. */
function failedResult(text: string, run: LastRun, now: Temporal.Instant, isWeekKnown: boolean): CheckResult {
  const { retryableUntil: until, week } = run;
  const isClosed = isWeekClosed(run, now);
  const decision = until === null || !isClosed ? decisionOf(run) : null;
  const failed = (prospect: string, fix: Fix) =>
    fail("LAST_RUN_FAILED", isWeekKnown ? text : `${text}; ${prospect}`, decision ?? fix);
  if (until === null) return failed(ON_MONDAY, FIX_FIRST);
  const steps = isClosed ? closedSteps(week) : stepsOf(run);
  if (isClosed) return failed(`that week is closed: ${CLOSED}`, fixOf(steps));
  const prospect = steps.includes("run") ? repeatText(["run"], until) : "no run helps what is open";
  // The other checks say what it lacked.
  return failed(prospect, factsOf(run).begunAt === null && steps.includes("run") ? RUN : fixOf(steps));
}

const ON_MONDAY = "it can be repeated on a Monday only, until midnight in São Paulo";

function closedSteps(week: LastRun["week"]): WeekStep[] {
  return week === null ? [] : weekSteps(week, { isClosed: true });
}

/** What helps: another run, too, where the ledger does not hold all that failed, or was not read. */
function stepsOf(run: LastRun): WeekStep[] {
  const steps = run.week === null ? [] : weekSteps(run.week, { isClosed: false });
  const isForRun = run.week === null || factsOf(run).beside !== null;
  return isForRun && !steps.includes("run") ? ["run", ...steps] : steps;
}

/** The result where another week has closed since the run failed. */
function olderWeekResult(text: string, { week }: LastRun): CheckResult {
  const reason = `${text}; another week has closed since then`;
  const steps = closedSteps(week);
  if (week !== null && steps.length === 0) return note("LAST_RUN_FAILED", reason);
  // What a run worked on then has failed by now, or is unknown.
  const next = steps.length > 1 || steps[0] === "wait" ? null : nextCommand(steps);
  return warn("LAST_RUN_FAILED", reason, next === null ? OLDER_WEEK : command(next));
}

/** The command with which a person decides what no run begins before. */
function decisionOf(run: LastRun): Fix | null {
  const decision = decisionBeforeRun(factsOf(run));
  return decision === null ? null : command(decision);
}

/** The result for the file that the last full success leaves; none where it could not be read. */
export function lastSuccessResults(readings: WeeklyReadings, nowMs: number): CheckResult[] {
  const { successAgeMs: ageMs } = readings;
  return ageMs === undefined ? [] : [successResult(ageMs, readings, nowMs)];
}

function successResult(ageMs: number | null, readings: WeeklyReadings, nowMs: number): CheckResult {
  const reading = withCountsNow(readings);
  const run = reading.status === "found" ? reading.run : null;
  const now = Temporal.Instant.fromEpochMilliseconds(nowMs);
  if (ageMs === null) return noSuccessResult(run, now);
  const days = (Math.abs(ageMs) / DAY_MS).toFixed(1);
  if (isToCome(ageMs))
    return warn(
      "CLOCK_WRONG",
      `the last full success is dated ${days} days in the future: a clock is wrong`,
      SET_CLOCK,
    );
  const text = `the last full success was ${days} days ago`;
  if (ageMs <= SUCCESS_LIMIT_DAYS * DAY_MS) return pass(text);
  switch (run === null ? null : renewalOf(run, now)) {
    case "monday":
      return untilMonday(
        "HEARTBEAT_STALE",
        `${text}; the week since then is settled, the next run on a Monday renews it`,
      );
    case "run":
      return fail("HEARTBEAT_STALE", `${text}; nothing is open, another run today renews it`, RUN);
    case null:
      return needsDoctor(fail("HEARTBEAT_STALE", text, SEE_LOG));
  }
}

/** The result where no success has left its file, or the file of the last run is gone. */
function noSuccessResult(run: LastRun | null, now: Temporal.Instant): CheckResult {
  if (run?.heartbeat !== "written") return untilMonday(NO_RUN_YET, "no run has ended in full success yet");
  const text = "the file of the last full success is gone";
  return isWeekClosed(run, now)
    ? untilMonday("HEARTBEAT_MISSING", `${text}; the next run on a Monday writes it again`)
    : warn("HEARTBEAT_MISSING", `${text}; another run today writes it again`, RUN);
}

/**
 * What renews the last success after a run that was none, and whose week has nothing open any more.
 *
 * Behaviour: null where something is open, where a cause has to be fixed before another run, and where the run of a
 *            later Monday has not come. On a Monday the week before is settled until the run of that day is due.
 */
function renewalOf(run: LastRun, now: Temporal.Instant): "run" | "monday" | null {
  if (run.window === null || run.week === null || !isWeekClean(run.week)) return null;
  const { week } = run.window;
  const weekBefore = weekWindow(weekWindow(now).start).week;
  const isAwaited = week === weekBefore && isReportDay(now) && !isReportRunDue(now);
  if (week !== weekWindow(now).week && !isAwaited) return null;
  const renewal = renewalAfter(factsOf(run), { isClosed: isWeekClosed(run, now) });
  return renewal === "mend" ? null : renewal;
}

/** Whether no run can send anything of the run's week any more. */
function isWeekClosed({ retryableUntil }: LastRun, now: Temporal.Instant): boolean {
  return retryableUntil === null || Temporal.Instant.compare(now, Temporal.Instant.from(retryableUntil)) >= 0;
}
