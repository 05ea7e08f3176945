import type { ReportWeek } from "../ledger/report-week.ts";
import type { WeekState } from "../ledger/week-state.ts";
import { isWeekClean } from "../ledger/week-verdict.ts";
import { isBeforeReportRun, isReportRunDue } from "../time/report-run-due.ts";
import { Temporal } from "../time/temporal.ts";
import type { LastRunFacts } from "./last-run.ts";

/**
 * How far a week has come: its run is still to come, works on it, has not begun though it was due, or has made what
 * there is.
 */
type WeekStage = "awaited" | "running" | "late" | "made";

type Week = Pick<WeekState, "owners" | "reports" | "whatsapp" | "email" | "social">;

/** What is known of the runs about a week besides its ledger. */
type KnownRuns = {
  isRunDue: boolean;
  /** This host's last run about the week. */
  lastRun: Pick<LastRunFacts, "status" | "begunAt"> | null;
  /** Whether one of this host has worked on another week. */
  hasHostWorked: boolean;
  /** False on a database in which no run has begun a report of any week. */
  hasRun: boolean;
};

/**
 * How far a week has come, by the ledger and by this host's last run about it.
 *
 * Behaviour: a run that was refused, or ended while it waited, has not begun. Before the run is due, what one
 *            for a single tenant has left is no matter. Without owners a run leaves nothing in the ledger: that it is
 *            missing is known to a host that works, and where none has been at all.
 */
export function weekStage(state: Week, { isRunDue, lastRun, hasHostWorked, hasRun }: KnownRuns): WeekStage {
  if (isWorkedOn(state, lastRun)) return "running";
  if (hasBegun(state)) return isRunDue || lastRun !== null || isWeekClean(state) ? "made" : "awaited";
  if (lastRun !== null) return lastRun.begunAt === null ? "late" : "made";
  if (state.owners === 0 && !((hasHostWorked || !hasRun) && isRunDue)) return "made";
  return isRunDue ? "late" : "awaited";
}

/**
 * Whether the run of a week has begun, or should have: the week is closed, it is 08:15 on its Monday, or 08:00 and
 * something has been made.
 */
export function isRunDue(
  { now, retryableUntil }: Pick<ReportWeek, "now" | "retryableUntil">,
  state: Week,
): boolean {
  if (retryableUntil === null) return true;
  const instant = Temporal.Instant.from(now);
  return isReportRunDue(instant) || (hasBegun(state) && !isBeforeReportRun(instant));
}

/** Whether a run works on a week: this host's last one, or by its leases another one; those of a killed run say nothing. */
function isWorkedOn(
  { reports, whatsapp, email }: Pick<Week, "reports" | "whatsapp" | "email">,
  lastRun: KnownRuns["lastRun"],
): boolean {
  if (lastRun?.status === "running") return true;
  const isKilled = lastRun?.status === "ended" && lastRun.begunAt !== null;
  return !isKilled && reports.running + whatsapp.running + email.running > 0;
}

function hasBegun({ reports: { completed, failed } }: Week): boolean {
  return completed + failed > 0;
}
