import type { LastRunReading } from "../../last-run/read.ts";
import { openDeliveries } from "../../last-run/week-counts.ts";
import { ownersBeforeText } from "../../ledger/owners-dropped.ts";
import { EXPLAIN, nextCommand, SHOW_WEEK, STEP_COMMANDS } from "../../ledger/week-steps.ts";
import { factsOf, type LastRunFacts, lastRunOfWeek } from "../../reports/last-run.ts";
import type { LedgerWeek } from "../../reports/ledger-week.ts";
import { judgeWeek, type WeekJudgement } from "../../reports/week-judgement.ts";
import { FIRST_TO_COME, makeText, RUN_STATES, repeatText } from "../../reports/week-words.ts";
import { localTime } from "../../time/local-time.ts";
import { attention, ok, type PartReport } from "../part.ts";

const DOCTOR = "sudo opsctl doctor weekly";
const RUN_AGAIN = `sudo ${STEP_COMMANDS.run}`;

/** What is to be said of the week: its verdict in words, and with what a person begins; null where none is needed. */
type Verdict = { text: string; next: string | null };

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
  const { week, clean, counts, retryableUntil } = ledger;
  const judgement = judgeWeek(ledger, lastRunOfWeek(lastRun, { week, isClean: clean, isHeartbeatGone }));
  const facts = {
    ...{ week, clean, open: openCount(judgement), owners: counts.owners },
    ...{ retryableUntil, lastRun: judgement.run },
  };
  const { text, next } = verdictOf(judgement, ledger);
  const lines = [`week of ${week}: ${text}`, ...unreadText(lastRun)];
  return next === null ? ok(lines, facts) : attention(lines, judgement.decision ?? next, facts);
}

function verdictOf(judgement: WeekJudgement, ledger: LedgerWeek): Verdict {
  switch (judgement.status) {
    case "awaited":
      return { text: "the run is due at 08:00 (São Paulo)", next: null };
    case "running":
      return ofWork(judgement.run);
    case "late":
      return ofNothing(judgement, ledger);
    case "open":
      return ofOpen(judgement, ledger);
    case "clean":
      return ofClean(judgement, ledger);
  }
}

/** The report where the ledger could not be read: what the last run of this host left, and that it is not all. */
export function judgeWithoutLedger(problem: string, lastRun: LastRunReading, next = DOCTOR): PartReport {
  if (lastRun.status !== "found") return attention([problem, ...unreadText(lastRun)], next);
  const { window, week, retryableUntil } = lastRun.run;
  const { status, code } = factsOf(lastRun.run);
  const open = week === null ? null : openDeliveries(week);
  const named =
    window === null ? "the last run of this host" : `the last run of this host, week of ${window.week}`;
  const text = `${named}: ${RUN_STATES[status]}${code === null ? "" : ` (${code})`}`;
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

function openCount({ open }: WeekJudgement): number {
  const counts = Object.values(open).flatMap((of) => Object.values(of));
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

function ofOpen(judgement: WeekJudgement, { retryableUntil }: LedgerWeek): Verdict {
  const { social, steps, run } = judgement;
  const open = openCount(judgement);
  const what = [...(open === 0 ? [] : [`${open} open`]), ...(social === null ? [] : [social])].join(", ");
  const end = run?.status === "ended" || run?.status === "not_ready" ? `${endText(run)}; ` : "";
  return {
    text: `OPEN: ${end}${what}; ${repeatText(steps, retryableUntil)}`,
    next: `sudo ${nextCommand(steps) ?? SHOW_WEEK}`,
  };
}

function ofClean({ dropped, renewal, run }: WeekJudgement, { counts }: LedgerWeek): Verdict {
  const text = `clean, ${counts.owners} ${counts.owners === 1 ? "owner" : "owners"}${ownersBeforeText(counts)}`;
  const next = dropped === null ? null : EXPLAIN.ownersDropped;
  if (run === null || renewal === null) return { text, next };
  if (renewal === "monday")
    return { text: `${text}; the next run on a Monday renews the last success`, next };
  if (renewal === "mend")
    return { text: `${text}; the last run failed (${run.beside})`, next: `sudo ${SHOW_WEEK}` };
  if (run.heartbeat === "gone")
    return { text: `${text}; the heartbeat of the last run is gone`, next: RUN_AGAIN };
  // Mended by hand after its last run: a run has still to see it.
  const end = run.status === "success" ? "left the networks out" : RUN_STATES[run.status];
  return { text: `${text}; the last run ${end}`, next: RUN_AGAIN };
}

/** No run of any host has begun with this week. */
function ofNothing({ isFirst, run }: WeekJudgement, { retryableUntil }: LedgerWeek): Verdict {
  if (isFirst && retryableUntil === null) return { text: FIRST_TO_COME, next: null };
  const what = run === null ? "no run has begun" : endText(run);
  return { text: `${what}; ${makeText(retryableUntil)}`, next: DOCTOR };
}

function endText({ status, waiting, code }: LastRunFacts): string {
  return waiting === null
    ? `the run ${RUN_STATES[status]}${code === null ? "" : ` (${code})`}`
    : `the run was killed while it waited for the ${waiting.waitsFor} (${waiting.code})`;
}

function unreadText(lastRun: LastRunReading): string[] {
  return lastRun.status === "unreadable" ? [`what the last run left cannot be read (${lastRun.code})`] : [];
}
