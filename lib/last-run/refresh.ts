import { readLastRun } from "./read.ts";
import type { WeekCounts } from "./week-counts.ts";
import { writeLastRun } from "./write.ts";

/** What became of the file: `left` where there is none, or where a run goes on, which writes it itself. */
export type Refreshed = { status: "updated" | "left" } | { status: "failed"; code: string };

/** Reads what the ledger holds of a week now. */
export type ReadWeek = (window: { start: string; end: string }) => Promise<WeekCounts>;

/**
 * Brings the last-run file up to date after a person changed the ledger: what is open in the week that it tells of.
 *
 * Behaviour: for commands that settle, reconcile or repair, after they did. How the run itself ended stays as it was:
 *            only a run proves a success.
 * Errors:    those of `readWeek`.
 */
export async function refreshLastRun(logDir: string, readWeek: ReadWeek): Promise<Refreshed> {
  const before = readLastRun(logDir);
  if (before.status === "unreadable") return { status: "failed", code: before.code };
  if (before.status === "none" || before.run.window === null) return { status: "left" };
  const week = await readWeek(before.run.window);
  // A run may have begun meanwhile: what it wrote must not be replaced by what was there before.
  const now = readLastRun(logDir);
  if (now.status !== "found" || now.run.status === "running" || now.run.runId !== before.run.runId)
    return { status: "left" };
  const problem = writeLastRun(logDir, { ...now.run, week });
  return problem === null ? { status: "updated" } : { status: "failed", code: problem };
}
