import { CLOSED, prospectOfClosed, type WeekStep, whyNoRun } from "../ledger/week-steps.ts";
import { localTime } from "../time/local-time.ts";
import type { LastRunFacts } from "./last-run.ts";

/** How a run stands or ended, as it follows "the run". */
export const RUN_STATES: Readonly<Record<LastRunFacts["status"], string>> = {
  running: "still running",
  ended: "was killed",
  success: "succeeded",
  failed: "failed",
  not_ready: "was not ready",
};

/** What is said where no run of any week is known and the next one is to come. */
export const FIRST_TO_COME = "no run yet; the first is on Monday at 08:00 (São Paulo)";

/** What can still come of an open week, given the steps that help it; `until` is null where it is closed. */
export function repeatText(steps: readonly WeekStep[], until: string | null): string {
  if (until === null) return prospectOfClosed(steps);
  return whyNoRun(steps) ?? `it can be repeated until ${localTime(until)} (São Paulo)`;
}

/** What can still come of a week with which no run has begun; `until` as above. */
export function makeText(until: string | null): string {
  return until === null ? CLOSED : `it can be made until ${localTime(until)} (São Paulo)`;
}
