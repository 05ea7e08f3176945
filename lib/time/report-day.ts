import { localDate, startOfDate } from "./local-date.ts";

const MONDAY = 1;

/**
 * Whether a run that writes may begin or go on at `now`: it is Monday in the report's zone.
 *
 * Source: weekly report document, Schedule and Prohibitions.
 */
export function isReportDay(now: Temporal.Instant): boolean {
  return localDate(now).dayOfWeek === MONDAY;
}

/** The local midnight after `now` in the report's zone: from that instant on nothing new is begun. */
export function reportDayEnd(now: Temporal.Instant): Temporal.Instant {
  return startOfDate(localDate(now).add({ days: 1 }));
}
