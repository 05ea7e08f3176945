import { readLastRun } from "./read.ts";
import type { WeekCounts } from "./week-counts.ts";
import { writeLastRun } from "./write.ts";

/** What became of the file: `not_ours` where it is missing, tells of another week, or belongs to a run that goes on. */
export type Refreshed = { status: "updated" | "not_ours" } | { status: "failed"; code: string };

/**
 * Brings the last-run file up to date after a person changed the ledger: what is open in the week that it tells of.
 *
 * Behaviour: for commands that settle, reconcile or repair. How the run itself ended stays as it was: only a run
 *            proves a success. A run that goes on writes the file itself when it ends.
 */
export function refreshLastRun(
  logDir: string,
  { week, counts }: { week: string; counts: WeekCounts },
): Refreshed {
  const reading = readLastRun(logDir);
  if (reading.status === "unreadable") return { status: "failed", code: reading.code };
  if (reading.status === "none") return { status: "not_ours" };
  const { run } = reading;
  if (run.status === "running" || run.window?.week !== week) return { status: "not_ours" };
  const problem = writeLastRun(logDir, { ...run, week: counts });
  return problem === null ? { status: "updated" } : { status: "failed", code: problem };
}
