import type { LastRunReading } from "../../last-run/read.ts";
import { openDeliveries } from "../../last-run/week-counts.ts";
import { ownersBeforeText, ownersDropped } from "../../ledger/owners-dropped.ts";
import type { ReportWeek } from "../../ledger/report-week.ts";
import type { WeekState } from "../../ledger/week-state.ts";
import {
  CLOSED,
  EXPLAIN,
  nextCommand,
  prospectOfClosed,
  SHOW_WEEK,
  weekSteps,
  whyNoRun,
} from "../../ledger/week-steps.ts";
import { isWeekClean, openInWeek, socialVerdict } from "../../ledger/week-verdict.ts";
import { commandBeforeRun, isFullSuccess, type LastRunFacts, lastRunOfWeek } from "../../reports/last-run.ts";
import { isRunDue, weekStage } from "../../reports/week-stage.ts";
import { localTime } from "../../time/local-time.ts";
import { attention, ok, type PartReport } from "../part.ts";

const DOCTOR = "sudo opsctl doctor weekly";

/** A week as the ledger has it; `hasRun` is false on a database in which no run has begun a report of any week. */
export type LedgerWeek = { week: ReportWeek; state: WeekState; hasRun: boolean };

/** What is to be said of the week: its verdict in words, whether a person is needed, and with what he begins. */
type Verdict = { text: string; next: string | null };

/** A week, and what this host knows of its runs. */
type Facts = LedgerWeek & { run: LastRunFacts | null; hasHostWorked: boolean };

/**
 * The report over the last closed week of the ledger.
 *
 * Shape:     `isHeartbeatGone`: there is no file of the last full success.
 * Behaviour: before the run of a Monday is due, and while a run works on it, an open week needs no one.
 */
export function judgeLedger(
  ledger: LedgerWeek,
  lastRun: LastRunReading,
  { isHeartbeatGone }: { isHeartbeatGone: boolean },
): PartReport {
  const { week, state } = ledger;
  const found = lastRunOfWeek(lastRun, {
    week: week.week,
    isClean: isWeekClean(state),
    isHeartbeatGone,
  });
  const run = found.status === "found" ? found.run : null;
  const hasHostWorked = found.status === "none" && found.hasHostWorked;
  const { retryableUntil } = week;
  const facts = {
    ...{ week: week.week, clean: isWeekClean(state), open: openCount(state), owners: state.owners },
    ...{ retryableUntil, lastRun: run },
  };
  const verdict = verdictOf({ ...ledger, run, hasHostWorked });
  const lines = [`week of ${week.week}: ${verdict.text}`, ...unreadText(lastRun)];
  if (verdict.next === null) return ok(lines, facts);
  const beforeRun = retryableUntil === null ? null : commandBeforeRun(run);
  return attention(lines, beforeRun ?? verdict.next, facts);
}

function verdictOf(facts: Facts): Verdict {
  const { week, state, run, hasHostWorked, hasRun } = facts;
  switch (weekStage(state, { isRunDue: isRunDue(week, state), lastRun: run, hasHostWorked, hasRun })) {
    case "awaited":
      return { text: "the run is due at 08:00 (São Paulo)", next: null };
    case "running":
      return ofWork(run);
    case "late":
      return ofNothing(facts);
    case "made":
      return isWeekClean(state) ? ofClean(facts) : ofOpen(facts);
  }
}

/** The report where the ledger could not be read: what the last run of this host left, and that it is not all. */
export function judgeWithoutLedger(problem: string, lastRun: LastRunReading, next = DOCTOR): PartReport {
  if (lastRun.status !== "found") return attention([problem, ...unreadText(lastRun)], next);
  const { window, status, week, retryableUntil, error } = lastRun.run;
  const open = week === null ? null : openDeliveries(week);
  const named =
    window === null ? "the last run of this host" : `the last run of this host, week of ${window.week}`;
  const text = `${named}: ${RUN_STATES[status]}${error === null ? "" : ` (${error.code})`}`;
  const facts = {
    week: window?.week ?? null,
    clean: null,
    open,
    owners: null,
    retryableUntil,
    lastRun: null,
  };
  return attention(
    [problem, open === null || open === 0 ? text : `${text}, ${open} deliveries open`],
    next,
    facts,
  );
}

const RUN_STATES = {
  running: "still running when it last wrote",
  success: "succeeded",
  failed: "failed",
  not_ready: "not ready",
};

function openCount(state: WeekState): number {
  const counts = Object.values(openInWeek(state)).flatMap((of) => Object.values(of));
  return counts.reduce((sum, count) => sum + count, 0);
}

/** A run works on the week, or waits before it can. */
function ofWork(run: LastRunFacts | null): Verdict {
  if (run?.status !== "running") return { text: "a run works on it", next: null };
  const { waiting, begunAt } = run;
  if (waiting !== null)
    return {
      text: `a run waits for the ${waiting.waitsFor} (${waiting.code}), until ${localTime(waiting.until)} (São Paulo)`,
      next: DOCTOR,
    };
  return {
    text: `the run goes on${begunAt === null ? "" : ` since ${localTime(begunAt)} (São Paulo)`}`,
    next: null,
  };
}

function ofOpen({ state, week: { retryableUntil }, run }: Facts): Verdict {
  const [open, social] = [openCount(state), socialVerdict(state)];
  const what = [...(open === 0 ? [] : [`${open} open`]), ...(social === null ? [] : [social])].join(", ");
  const isClosed = retryableUntil === null;
  const steps = weekSteps(state, { isClosed });
  const prospect = isClosed ? prospectOfClosed(steps) : (whyNoRun(steps) ?? deadlineText(retryableUntil));
  const end = run?.status === "ended" || run?.status === "not_ready" ? `${endText(run)}; ` : "";
  return { text: `OPEN: ${end}${what}; ${prospect}`, next: `sudo ${nextCommand(steps) ?? SHOW_WEEK}` };
}

function ofClean({ state, week: { retryableUntil }, run }: Facts): Verdict {
  const text = `clean, ${state.owners} ${state.owners === 1 ? "owner" : "owners"}${ownersBeforeText(state)}`;
  const next = ownersDropped(state) === null ? null : EXPLAIN.ownersDropped;
  if (run === null || isFullSuccess(run)) return { text, next };
  if (retryableUntil === null)
    return { text: `${text}; the next run on a Monday renews the last success`, next };
  if (run.beside !== null)
    return { text: `${text}; the last run failed (${run.beside})`, next: `sudo ${SHOW_WEEK}` };
  if (run.heartbeat === "gone")
    return { text: `${text}; the heartbeat of the last run is gone`, next: "sudo opsctl weekly" };
  // Mended by hand after its last run: a run has still to see it.
  return { text: `${text}; the last run ${RUN_ENDS[run.status]}`, next: "sudo opsctl weekly" };
}

const RUN_ENDS: Record<LastRunFacts["status"], string> = {
  ...RUN_STATES,
  ...{ ended: "was killed", not_ready: "was not ready", success: "left the networks out" },
};

function deadlineText(retryableUntil: string | null): string {
  if (retryableUntil === null) return CLOSED;
  return `can be repeated until ${localTime(retryableUntil)} (São Paulo)`;
}

/** No run of any host has begun with this week. */
function ofNothing({ week: { retryableUntil }, run, hasRun }: Facts): Verdict {
  if (run === null && retryableUntil === null && !hasRun)
    return { text: "no run yet; the first is on Monday at 08:00 (São Paulo)", next: null };
  const prospect =
    retryableUntil === null ? CLOSED : `it can be made until ${localTime(retryableUntil)} (São Paulo)`;
  return { text: `${run === null ? "no run has begun" : endText(run)}; ${prospect}`, next: DOCTOR };
}

function endText({ status, waiting, code }: LastRunFacts): string {
  return waiting === null
    ? `the run ${RUN_ENDS[status]}${code === null ? "" : ` (${code})`}`
    : `the run was killed while it waited for the ${waiting.waitsFor} (${waiting.code})`;
}

function unreadText(lastRun: LastRunReading): string[] {
  return lastRun.status === "unreadable" ? [`what the last run left cannot be read (${lastRun.code})`] : [];
}
