import type { WeekDeliveries, WeekState } from "./week-state.ts";

/** What is still open in one step or channel of a week; only counts above zero. */
export type OpenCounts = Partial<Record<"running" | "failed" | "missing" | "unknown" | "partial", number>>;

/** What is still open in a week, by step. */
export type OpenInWeek = { reports: OpenCounts; whatsapp: OpenCounts; email: OpenCounts };

/** The codes of a week in which too many networks failed. */
export type SocialCode = "SOCIAL_ALL_CALLS_FAILED" | "SOCIAL_DEGRADED";

/** What keeps a week from being a success, by step; every part is empty when nothing does. */
export function openInWeek({
  reports,
  whatsapp,
  email,
}: Pick<WeekState, "reports" | "whatsapp" | "email">): OpenInWeek {
  const { running, failed, missing } = reports;
  return {
    reports: aboveZero({ running, failed, missing }),
    whatsapp: openDeliveries(whatsapp),
    email: openDeliveries(email),
  };
}

/** True when every report is completed and every delivery sent. */
export function isWeekDone(week: Parameters<typeof openInWeek>[0]): boolean {
  return Object.values(openInWeek(week)).every((counts) => Object.keys(counts).length === 0);
}

/**
 * The code of a week in which too many networks failed for the fault to lie with single connections, else null.
 *
 * Behaviour: all of the tried networks, or more than a tenth of them with at least three owners.
 */
export function socialVerdict({ social }: Pick<WeekState, "social">): SocialCode | null {
  const { connected, failed, owners } = social;
  if (connected === 0) return null;
  if (failed === connected) return "SOCIAL_ALL_CALLS_FAILED";
  return failed * 10 > connected && owners >= 3 ? "SOCIAL_DEGRADED" : null;
}

/** True when the week is a success: everything is done, and the networks could be read. */
export function isWeekClean(week: Omit<WeekState, "noLongerEligible" | "before">): boolean {
  return isWeekDone(week) && socialVerdict(week) === null;
}

function openDeliveries({ running, failed, missing, unknown, partial }: WeekDeliveries): OpenCounts {
  return aboveZero({ running, failed, missing, unknown, partial });
}

function aboveZero(counts: OpenCounts): OpenCounts {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
}
