import { localDate, REPORT_ZONE, startOfDate } from "./local-date.ts";

export { REPORT_ZONE };

/** A closed week: `start` is inside, `end` is outside, `week` names it by its first local date. */
export type WeekWindow = { start: Temporal.Instant; end: Temporal.Instant; week: string };

/**
 * The last closed week before `now`, Monday to Sunday, in `zone`.
 *
 * Shape:  { start, end, week }; start included, end excluded, `week` is Monday's date as YYYY-MM-DD.
 * Units:  calendar days; a week with a clock change is not 168 hours.
 * Errors: WINDOW_UNKNOWN_ZONE.
 * Source: weekly report document, Window.
 */
export function weekWindow(now: Temporal.Instant, zone: string = REPORT_ZONE): WeekWindow {
  const today = localDate(now, zone);
  const thisMonday = today.subtract({ days: today.dayOfWeek - 1 });
  const lastMonday = thisMonday.subtract({ days: 7 });
  return {
    start: startOfDate(lastMonday, zone),
    end: startOfDate(thisMonday, zone),
    week: lastMonday.toString(),
  };
}
