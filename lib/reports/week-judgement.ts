import { ownersDropped } from "../ledger/owners-dropped.ts";
import type { WeekState } from "../ledger/week-state.ts";
import { EXPLAIN, type WeekStep, weekSteps } from "../ledger/week-steps.ts";
import { type OpenInWeek, openInWeek, type SocialCode, socialVerdict } from "../ledger/week-verdict.ts";
import { isFullSuccess, type LastRunFacts, type LastRunFinding } from "./last-run.ts";
import type { LedgerWeek } from "./ledger-week.ts";
import { weekStage } from "./week-stage.ts";

/**
 * What is to be said of a week: status, `reports status` and doctor put it into words, each in its own length.
 *
 * Shape: `status`: its run is still to come, works on it, or has not begun though it was due; of what a run has made,
 *        something is `open`, or it is `clean`.
 */
export type WeekJudgement = {
  status: "awaited" | "running" | "late" | "open" | "clean";
  /** This host's last run about the week; null where it knows of none. */
  run: LastRunFacts | null;
  /** Whether no run of any week is known yet, here or in the ledger. */
  isFirst: boolean;
  open: OpenInWeek;
  social: SocialCode | null;
  /** What moves on what is open. */
  steps: WeekStep[];
  /** The earlier week, when far fewer owners get a report than had one then. */
  dropped: WeekState["before"];
  /** What renews the last success, where the last run was none and nothing is open any more. */
  renewal: Renewal | null;
  /** The command with which a person decides what no run begins before. */
  decision: string | null;
};

/** What renews the last success: another run today, one when its cause is mended, or only that of the next Monday. */
export type Renewal = "run" | "mend" | "monday";

/** Judges a week by the ledger and by what this host knows of its runs. */
export function judgeWeek(ledger: LedgerWeek, lastRun: LastRunFinding): WeekJudgement {
  const { counts, clean, runDue, hasRun } = ledger;
  const isClosed = ledger.retryableUntil === null;
  const run = lastRun.status === "found" ? lastRun.run : null;
  const hasHostWorked = lastRun.status === "none" && lastRun.hasHostWorked;
  const stage = weekStage(counts, { isRunDue: runDue, lastRun: run, hasHostWorked, hasRun });
  const madeStatus = clean ? "clean" : "open";
  return {
    status: stage === "made" ? madeStatus : stage,
    run,
    isFirst: !hasRun && run === null,
    open: openInWeek(counts),
    social: socialVerdict(counts),
    steps: weekSteps(counts, { isClosed }),
    dropped: stage === "made" ? ownersDropped(counts) : null,
    renewal: stage === "made" && clean && run !== null ? renewalAfter(run, { isClosed }) : null,
    decision: isClosed || stage === "running" ? null : decisionBeforeRun(run),
  };
}

/** What renews the last success after this run about a week that has nothing open; null where it is one itself. */
export function renewalAfter(run: LastRunFacts, { isClosed }: { isClosed: boolean }): Renewal | null {
  if (isFullSuccess(run)) return null;
  if (isClosed) return "monday";
  return run.beside === null ? "run" : "mend";
}

/**
 * The command that helps where another run would only be refused again until a person has decided; null where there is
 * nothing to decide.
 */
export function decisionBeforeRun(run: LastRunFacts | null): string | null {
  return run?.code === "LEDGER_WENT_BACK" ? EXPLAIN.ledgerWentBack : null;
}
