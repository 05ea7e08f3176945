import type { LastRunReading } from "../../last-run/read.ts";
import { openDeliveries } from "../../last-run/week-counts.ts";
import type { ReportWeek } from "../../ledger/report-week.ts";
import type { WeekState } from "../../ledger/week-state.ts";
import {
  CLOSED,
  nextCommand,
  prospectOfClosed,
  SHOW_WEEK,
  weekSteps,
  whyNoRun,
} from "../../ledger/week-steps.ts";
import { isWeekClean, openInWeek, socialVerdict } from "../../ledger/week-verdict.ts";
import { type LastRunFacts, lastRunOfWeek } from "../../reports/last-run.ts";
import { localTime } from "../../time/local-time.ts";
import { isReportRunDue } from "../../time/report-run-due.ts";
import { Temporal } from "../../time/temporal.ts";
import { attention, ok, type PartReport } from "../part.ts";

const DOCTOR = "sudo opsctl doctor weekly";

/** A week as the ledger has it. */
export type LedgerWeek = { week: ReportWeek; state: WeekState };

/** What is to be said of the week: its verdict in words, whether a person is needed, and with what he begins. */
type Verdict = { text: string; next: string | null };

/**
 * The report over the last closed week of the ledger.
 *
 * Behaviour: before the run of a Monday is due, and while it goes on, an open week needs no one.
 */
export function judgeLedger({ week, state }: LedgerWeek, lastRun: LastRunReading, nowMs: number): PartReport {
  const found = lastRunOfWeek(lastRun, week.week);
  const run = found.status === "found" ? found.run : null;
  const clean = isWeekClean(state);
  const open = openCount(state);
  const { retryableUntil } = week;
  const facts = { ...{ week: week.week, clean, open, owners: state.owners, retryableUntil }, lastRun: run };
  const isReported = hasBegun(state) || run !== null || state.owners === 0;
  const ofWeek = () =>
    clean ? ofClean(state, { retryableUntil, run }) : ofOpen(state, { open, retryableUntil });
  const verdict =
    ofRun(run) ?? (isReported ? ofWeek() : ofNothing(retryableUntil, lastRun.status === "none", nowMs));
  const lines = [`week of ${week.week}: ${verdict.text}`, ...unreadText(lastRun)];
  return verdict.next === null ? ok(lines, facts) : attention(lines, verdict.next, facts);
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

function hasBegun({ reports: { completed, running, failed } }: WeekState): boolean {
  return completed + running + failed > 0;
}

/** The verdict where the run of this host decides: it goes on, waits, or was killed. */
function ofRun(run: LastRunFacts | null): Verdict | null {
  if (run === null) return null;
  const { status, waiting, begunAt } = run;
  if (status === "ended") return { text: "the run was killed", next: `sudo ${SHOW_WEEK}` };
  if (status !== "running") return null;
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

function ofOpen(
  state: WeekState,
  { open, retryableUntil }: { open: number; retryableUntil: string | null },
): Verdict {
  const social = socialVerdict(state);
  const what = [...(open === 0 ? [] : [`${open} open`]), ...(social === null ? [] : [social])].join(", ");
  const isClosed = retryableUntil === null;
  const steps = weekSteps(state, { isClosed });
  const prospect = isClosed ? prospectOfClosed(steps) : (whyNoRun(steps) ?? deadlineText(retryableUntil));
  return { text: `OPEN: ${what}; ${prospect}`, next: `sudo ${nextCommand(steps) ?? SHOW_WEEK}` };
}

function ofClean(
  { owners }: WeekState,
  { retryableUntil, run }: { retryableUntil: string | null; run: LastRunFacts | null },
): Verdict {
  const text = `clean, ${owners} ${owners === 1 ? "owner" : "owners"}`;
  // Mended by hand after its last run: a run has still to see it.
  if (run === null || run.status === "success") return { text, next: null };
  if (retryableUntil === null)
    return { text: `${text}; the next run on a Monday renews the last success`, next: null };
  return { text: `${text}; the last run failed`, next: "sudo opsctl weekly" };
}

function deadlineText(retryableUntil: string | null): string {
  if (retryableUntil === null) return CLOSED;
  return `can be repeated until ${localTime(retryableUntil)} (São Paulo)`;
}

/** No run of any host has begun with this week. */
function ofNothing(retryableUntil: string | null, isNewHost: boolean, nowMs: number): Verdict {
  if (retryableUntil === null)
    return isNewHost
      ? { text: "no run yet; the first is on Monday at 08:00 (São Paulo)", next: null }
      : { text: "no run; nothing more is sent for it", next: DOCTOR };
  if (!isReportRunDue(Temporal.Instant.fromEpochMilliseconds(nowMs)))
    return { text: "the run is due at 08:00 (São Paulo)", next: null };
  return { text: `no run yet; one can begin until ${localTime(retryableUntil)} (São Paulo)`, next: DOCTOR };
}

function unreadText(lastRun: LastRunReading): string[] {
  return lastRun.status === "unreadable" ? [`what the last run left cannot be read (${lastRun.code})`] : [];
}
