import { nextCommand, SHOW_WEEK, type WeekStep } from "../../../ledger/week-steps.ts";
import type { Fix } from "../../../platform/errors.ts";
import { repeatText } from "../../../reports/week-words.ts";
import { command } from "../../finding.ts";

/** What is done where a cause has to be fixed before another run. */
export const FIX_FIRST = command(SHOW_WEEK, "Fix what it names, then run opsctl weekly:");

/** The command that comes next for an open week, given the steps that help it. */
export function fixOf(steps: readonly WeekStep[]): Fix {
  const next = nextCommand(steps);
  if (next !== null) return command(next);
  return steps.includes("run") ? FIX_FIRST : command(SHOW_WEEK);
}

/** What can still come of it; `until` is null where it is closed. */
export function prospectOf(steps: readonly WeekStep[], until: string | null): string {
  return `${until === null ? "that week is closed: " : ""}${repeatText(steps, until)}`;
}
