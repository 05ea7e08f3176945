import { localDate } from "./local-date.ts";
import { Temporal } from "./temporal.ts";

/** The first and the last date of a week, both inside it. */
export type WeekDates = { first: Temporal.PlainDate; last: Temporal.PlainDate };

/**
 * The dates that a stored window covers in the report's zone, Monday and Sunday for a report's week.
 *
 * Shape: takes the window's bounds in the payload's form; the end is excluded, so the last date is that of the moment
 *        before it.
 */
export function weekDates(windowStart: string, windowEnd: string): WeekDates {
  return {
    first: localDate(Temporal.Instant.from(windowStart)),
    last: localDate(Temporal.Instant.from(windowEnd).subtract({ nanoseconds: 1 })),
  };
}
