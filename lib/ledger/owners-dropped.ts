import type { WeekState } from "./week-state.ts";

/** The code of the warning about a week with far fewer owners than the one before. */
export const OWNERS_DROPPED = "OWNERS_DROPPED";

/** How many fewer are a drop, unless nobody is left: from a small host a few customers may leave in a week. */
const DROP = 10;

/**
 * The earlier week, when far fewer owners get a report than had one then: none, or fewer than half and ten fewer; else
 * null.
 *
 * Behaviour: a warning and no failure. The application says who gets a report: one that has renamed what makes an owner
 *            looks the same as customers who have left. Who had a report and gets none any more counts as reached.
 */
export function ownersDropped({ owners, reports, before }: Counted): WeekState["before"] {
  if (before === null) return null;
  const reached = Math.max(owners, reports.completed);
  return reached === 0 || (reached * 2 < before.owners && before.owners - reached >= DROP) ? before : null;
}

/** What goes behind the number of owners: "; 412 in the week of 2026-11-09" when these are far fewer, else nothing. */
export function ownersBeforeText(week: Counted): string {
  const before = ownersDropped(week);
  return before === null ? "" : `; ${before.owners} in the week of ${before.week}`;
}

type Counted = Pick<WeekState, "owners" | "reports" | "before">;
