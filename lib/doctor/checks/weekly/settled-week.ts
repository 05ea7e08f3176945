import type { LastRun } from "../../../last-run/last-run.ts";
import { openDeliveries } from "../../../last-run/week-counts.ts";
import { socialVerdict } from "../../../ledger/week-verdict.ts";
import { factsOf, isFullSuccess } from "../../../reports/last-run.ts";
import { isReportDay } from "../../../time/report-day.ts";
import { isReportRunDue } from "../../../time/report-run-due.ts";
import { Temporal } from "../../../time/temporal.ts";
import { weekWindow } from "../../../time/week-window.ts";

/** What renews the last success: another run today, or only the run of the next Monday. */
export type Renewal = "run" | "monday";

/**
 * What renews the last success after a run that was none, and whose week has nothing open any more.
 *
 * Behaviour: null where something is open, where a cause has to be mended before another run, and where the run of a
 *            later Monday has not come. On a Monday the week before is settled until the run of that day is due.
 */
export function renewalOf(run: LastRun, now: Temporal.Instant): Renewal | null {
  if (run.window === null || isFullSuccess(factsOf(run)) || !isLedgerSettled(run)) return null;
  const { week } = run.window;
  if (week === weekWindow(now).week) {
    if (isWeekClosed(run, now)) return "monday";
    return factsOf(run).beside !== null ? null : "run";
  }
  return week === weekBefore(now) && isReportDay(now) && !isReportRunDue(now) ? "monday" : null;
}

/** Whether no run can send anything of the run's week any more. */
export function isWeekClosed({ retryableUntil }: LastRun, now: Temporal.Instant): boolean {
  return retryableUntil === null || Temporal.Instant.compare(now, Temporal.Instant.from(retryableUntil)) >= 0;
}

/** Whether nothing of the run's week is open in the ledger. */
function isLedgerSettled({ week }: LastRun): boolean {
  if (week === null || socialVerdict(week) !== null) return false;
  const { running, failed, missing } = week.reports;
  return openDeliveries(week) + running + failed + missing === 0;
}

/** The week before the last closed one. */
function weekBefore(now: Temporal.Instant): string {
  return weekWindow(weekWindow(now).start).week;
}
