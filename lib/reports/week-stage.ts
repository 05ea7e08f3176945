import type { ReportWeek } from "../ledger/report-week.ts";
import type { WeekState } from "../ledger/week-state.ts";
import { isReportRunDue } from "../time/report-run-due.ts";
import { Temporal } from "../time/temporal.ts";
import type { LastRunFacts } from "./last-run.ts";

/**
 * How far a week has come: its run is still to come, works on it, has not begun though it was due, or has made what
 * there is.
 */
export type WeekStage = "awaited" | "running" | "late" | "made";

type Week = Pick<WeekState, "owners" | "reports" | "whatsapp" | "email">;

/**
 * How far a week has come, by the ledger and by this host's last run about it.
 *
 * Behaviour: a run of another host is seen by its leases alone; those of a run of this host that was killed say
 *            nothing. A run that was refused, or ended while it waited, has not begun. Without owners there is nothing
 *            to make.
 */
export function weekStage(
  state: Week,
  { isRunDue, lastRun }: { isRunDue: boolean; lastRun: Pick<LastRunFacts, "status" | "begunAt"> | null },
): WeekStage {
  const isKilled = lastRun?.status === "ended" && lastRun.begunAt !== null;
  if (lastRun?.status === "running" || (isInWork(state) && !isKilled)) return "running";
  if (hasBegun(state) || state.owners === 0) return "made";
  if (lastRun !== null) return lastRun.begunAt === null ? "late" : "made";
  return isRunDue ? "late" : "awaited";
}

/** Whether the run of a week should have begun: it is closed, or it is 08:15 on its Monday. */
export function isRunDue({ now, retryableUntil }: Pick<ReportWeek, "now" | "retryableUntil">): boolean {
  return retryableUntil === null || isReportRunDue(Temporal.Instant.from(now));
}

function isInWork({ reports, whatsapp, email }: Week): boolean {
  return reports.running + whatsapp.running + email.running > 0;
}

function hasBegun({ reports: { completed, failed } }: Week): boolean {
  return completed + failed > 0;
}
