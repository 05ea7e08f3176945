/** Minutes of the day in UTC by which cron has started the run of a Monday, with a quarter of an hour to begin. */
const DUE_MINUTES = 11 * 60 + 15;

/** Whether the run of a Monday should have begun by `now`, an instant of that Monday. */
export function isReportRunDue(now: Temporal.Instant): boolean {
  const { hour, minute } = now.toZonedDateTimeISO("UTC");
  return hour * 60 + minute >= DUE_MINUTES;
}
