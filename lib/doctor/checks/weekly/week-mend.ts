import { nextCommand, SHOW_WEEK, type WeekStep } from "../../../ledger/week-steps.ts";
import { repeatText } from "../../../reports/week-words.ts";

/** What is done where a cause has to be mended before another run. */
export const MEND_FIRST = "opsctl reports status; mend what it names, then opsctl weekly";

/** The command that comes next for an open week, given the steps that help it. */
export function mendOf(steps: readonly WeekStep[]): string {
  return nextCommand(steps) ?? (steps.includes("run") ? MEND_FIRST : SHOW_WEEK);
}

/** What can still come of it; `until` is null where it is closed. */
export function prospectOf(steps: readonly WeekStep[], until: string | null): string {
  return `${until === null ? "that week is closed: " : ""}${repeatText(steps, until)}`;
}
