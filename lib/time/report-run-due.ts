import { localDate } from "./local-date.ts";

/** When cron starts the run of a Monday, in UTC. */
const START = { hour: 11 };
/** A quarter of an hour later it has begun. */
const DUE = { hour: 11, minute: 15 };

/**
 * Whether the run of a Monday should have begun by `now`, an instant of that Monday.
 *
 * Behaviour: also in its last hours, which are Tuesday's first ones in UTC.
 */
export function isReportRunDue(now: Temporal.Instant): boolean {
  return isFrom(DUE, now);
}

/** Whether cron has not started the run of a Monday yet at `now`, an instant of that Monday. */
export function isBeforeReportRun(now: Temporal.Instant): boolean {
  return !isFrom(START, now);
}

function isFrom(plainTime: { hour: number; minute?: number }, now: Temporal.Instant): boolean {
  const from = localDate(now).toZonedDateTime({ timeZone: "UTC", plainTime }).toInstant();
  return now.since(from).sign >= 0;
}
