import { OpsError } from "../platform/errors.ts";

/** The zone in which report weeks begin and end. */
export const REPORT_ZONE = "America/Sao_Paulo";

/**
 * The calendar date that people in `zone` see at `now`.
 *
 * Errors: WINDOW_UNKNOWN_ZONE.
 */
export function localDate(now: Temporal.Instant, zone: string = REPORT_ZONE): Temporal.PlainDate {
  try {
    return now.toZonedDateTimeISO(zone).toPlainDate();
  } catch (cause) {
    throw new OpsError({
      code: "WINDOW_UNKNOWN_ZONE",
      message: `Cannot compute the week: zone is ${JSON.stringify(zone)}, expected a time zone name`,
      hint: `Use a name of the time zone database, such as ${REPORT_ZONE}`,
      cause,
    });
  }
}

/**
 * The first instant of `date` in `zone`.
 *
 * Units: calendar days. Where a clock change skips midnight the day begins after the gap.
 */
export function startOfDate(date: Temporal.PlainDate, zone: string = REPORT_ZONE): Temporal.Instant {
  return date.toZonedDateTime(zone).toInstant();
}
