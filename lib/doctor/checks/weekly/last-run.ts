import { hasWorked } from "../../../last-run/has-worked.ts";
import type { LastRun, Waiting } from "../../../last-run/last-run.ts";
import { type LastRunReading, readLastRun } from "../../../last-run/read.ts";
import { readWeekState, type WeekState } from "../../../ledger/week-state.ts";
import {
  BY_HAND,
  CLOSED,
  nextCommand,
  STEP_COMMANDS,
  type WeekStep,
  weekSteps,
} from "../../../ledger/week-steps.ts";
import type { Fix } from "../../../platform/errors.ts";
import { withTimeout } from "../../../platform/timeout.ts";
import { factsOf, isFullSuccess, type LastRunFacts, weekOf } from "../../../reports/last-run.ts";
import { decisionBeforeRun } from "../../../reports/week-judgement.ts";
import { isWorkedOn } from "../../../reports/week-stage.ts";
import { RUN_STATES } from "../../../reports/week-words.ts";
import { formatInstant } from "../../../time/instant.ts";
import { localTime } from "../../../time/local-time.ts";
import { reportDayEnd } from "../../../time/report-day.ts";
import { Temporal } from "../../../time/temporal.ts";
import { weekWindow } from "../../../time/week-window.ts";
import type { Check } from "../../context/check.ts";
import type { CheckContext } from "../../context/check-context.ts";
import { command, fail, NEXT_MONDAY, pass, type Verdict, warn } from "../../finding.ts";
import { withDatabase } from "../peers/database.ts";
import { isWeekClosed, renewalOf } from "./settled-week.ts";
import { FIX_FIRST, fixOf, prospectOf } from "./week-fix.ts";

const of = "weekly";
const LOOK = command("opsctl reports status; opsctl deliveries look-up --all");
const RUN = command(STEP_COMMANDS.run);

/** How the last run of this host ended; `logDirOf` is null where the settings do not name the directory. */
export function lastRunCheck(logDirOf: (context: CheckContext) => Promise<string | null>): Check {
  return {
    command: of,
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
  const week = await withTimeout(
    { limitMs },
    () => weekNow(run, context),
    () => null,
  ).catch(() => null);
  return { status: "found", run: { ...run, week: week ?? run.week } };
}

async function weekNow({ window }: LastRun, context: CheckContext): Promise<WeekState | null> {
  let week: WeekState | null = null;
  if (window !== null)
    await withDatabase(of, context, async (sql) => {
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

/** The verdict over what the last run of this host left. */
export function lastRunVerdict(reading: LastRunReading, nowMs: number): Verdict {
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
  if (facts.status === "running") return goingOnVerdict(facts);
  const text = endText(facts, run);
  if (isFullSuccess(facts)) return pass(text);
  const isSuccess = facts.status === "success";
  if (run.window !== null && run.window.week !== weekWindow(now).week)
    return isSuccess
      ? pass(text)
      : warn("LAST_RUN_FAILED", `${text}; another week has closed since then`, olderWeekFix(run));
  if (!isSuccess && run.week !== null && isWorkedOn(run.week, facts))
    return warn("LAST_RUN_FAILED", `${text}; a run works on it`);
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
  if (status === "success") return `the last run ${RUN_STATES[status]}${ofWeek}`;
  return `the last run ${RUN_STATES[status]}${ofWeek}${code === null ? "" : `, ${code}`}`;
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
      "HEARTBEAT_STALE",
      `${settled}; another run today renews the last success`,
      decisionOf(run) ?? RUN,
    );
  return warn("HEARTBEAT_STALE", `${settled}; the next run on a Monday renews the last success`, NEXT_MONDAY);
}

/** The verdict where the run of the last closed week failed, and something of it is open. */
function openRunVerdict(text: string, run: LastRun, now: Temporal.Instant): Verdict {
  const { retryableUntil: until } = run;
  if (until === null)
    return fail(
      "LAST_RUN_FAILED",
      `${text}; it can be repeated on a Monday only, until midnight in São Paulo`,
      FIX_FIRST,
    );
  const isClosed = isWeekClosed(run, now);
  const steps = stepsOf(run, { isClosed });
  const isUnread = isClosed && run.week === null;
  const prospect = isUnread ? `that week is closed: ${CLOSED}` : prospectOf(steps, isClosed ? null : until);
  // What it lacked, the other checks tell; what is done by hand, the line about the week.
  const isForRun = factsOf(run).begunAt === null && steps.includes("run");
  const beforeRun = isClosed ? null : decisionOf(run);
  return fail(
    "LAST_RUN_FAILED",
    `${text}; ${prospect.replace(`; ${BY_HAND}`, "")}`,
    beforeRun ?? (isForRun ? RUN : fixOf(steps)),
  );
}

/** What helps: another run, too, where the ledger does not hold all that failed, or was not read. */
function stepsOf(run: LastRun, { isClosed }: { isClosed: boolean }): WeekStep[] {
  const steps = run.week === null ? [] : weekSteps(run.week, { isClosed });
  const isForRun = !isClosed && (run.week === null || factsOf(run).beside !== null);
  return isForRun && !steps.includes("run") ? ["run", ...steps] : steps;
}

/** What is left to do about a week behind the last closed one; null where nothing helps it any more. */
function olderWeekFix({ week }: LastRun): Fix | null {
  if (week === null) return LOOK;
  const steps = weekSteps(week, { isClosed: true });
  if (steps.length === 0) return null;
  // What a run worked on then has failed by now, or is in doubt.
  const next = steps.length > 1 || steps[0] === "wait" ? null : nextCommand(steps);
  return next === null ? LOOK : command(next);
}

/** The command with which a person decides what no run begins before. */
function decisionOf(run: LastRun): Fix | null {
  const decision = decisionBeforeRun(factsOf(run));
  return decision === null ? null : command(decision);
}

/** The verdict over a run that goes on, or waits before it begins. */
function goingOnVerdict({ waiting, begunAt }: LastRunFacts): Verdict {
  if (waiting !== null)
    return warn(
      "RUN_WAITING",
      `a run waits ${causeText(waiting)}, until ${localTime(waiting.until)} at most (São Paulo)`,
      "Look at the database: the run goes on, or ends, by itself",
    );
  const at = begunAt === null ? "an unknown time" : `${localTime(begunAt)} (São Paulo)`;
  return pass(`the last run began at ${at} and goes on`);
}

function causeText({ waitsFor, code, since }: Waiting): string {
  return `for the ${waitsFor} (${code}) since ${localTime(since)}`;
}
