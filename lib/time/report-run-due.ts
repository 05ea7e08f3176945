import { localDate } from "./local-date.ts";

/** The time in UTC by which cron has started the run of a Monday, with a quarter of an hour to begin. */
const DUE = { hour: 11, minute: 15 };

/**
 * Whether the run of a Monday should have begun by `now`, an instant of that Monday.
 *
 * Behaviour: also in its last hours, which are Tuesday's first ones in UTC.
 */
export function isReportRunDue(now: Temporal.Instant): boolean {
  const dueAt = localDate(now).toZonedDateTime({ timeZone: "UTC", plainTime: DUE }).toInstant();
  return now.since(dueAt).sign >= 0;
}
