import type { LastRun } from "../../../last-run/last-run.ts";
import { isWeekClean } from "../../../ledger/week-verdict.ts";
import { factsOf } from "../../../reports/last-run.ts";
import { type Renewal, renewalAfter } from "../../../reports/week-judgement.ts";
import { isReportDay } from "../../../time/report-day.ts";
import { isReportRunDue } from "../../../time/report-run-due.ts";
import { Temporal } from "../../../time/temporal.ts";
import { weekWindow } from "../../../time/week-window.ts";

/**
 * What renews the last success after a run that was none, and whose week has nothing open any more.
 *
 * Behaviour: null where something is open, where a cause has to be mended before another run, and where the run of a
 *            later Monday has not come. On a Monday the week before is settled until the run of that day is due.
 */
export function renewalOf(run: LastRun, now: Temporal.Instant): Exclude<Renewal, "mend"> | null {
  if (run.window === null || run.week === null || !isWeekClean(run.week)) return null;
  const { week } = run.window;
  const isAwaited = week === weekBefore(now) && isReportDay(now) && !isReportRunDue(now);
  if (week !== weekWindow(now).week && !isAwaited) return null;
  const renewal = renewalAfter(factsOf(run), { isClosed: isWeekClosed(run, now) });
  return renewal === "mend" ? null : renewal;
}

/** Whether no run can send anything of the run's week any more. */
export function isWeekClosed({ retryableUntil }: LastRun, now: Temporal.Instant): boolean {
  return retryableUntil === null || Temporal.Instant.compare(now, Temporal.Instant.from(retryableUntil)) >= 0;
}

/** The week before the last closed one. */
function weekBefore(now: Temporal.Instant): string {
  return weekWindow(weekWindow(now).start).week;
}
