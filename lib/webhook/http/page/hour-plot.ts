import { REPORT_ZONE } from "../../../time/local-date.ts";
import { Temporal } from "../../../time/temporal.ts";

const HOUR_MS = 3_600_000;
const DAYS = 7;
const WEEKDAYS = ["seg", "ter", "qua", "qui", "sex", "sáb", "dom"];

/** An hour of the plot: which of the days it is in, the clock's hour in it, and how many alerts were accepted. */
export type PlotHour = { day: number; hour: number; alerts: number };

/** The last seven days of the calendar, today last, and the hours of them that are known. */
export type HourPlot = { days: string[]; hours: PlotHour[]; largest: PlotHour | null; total: number };

/**
 * Puts counted hours into the last seven days of the calendar.
 *
 * Shape:     `counts` as `State.hourly` returns them, the running hour last; `days` are `seg 16/11`.
 * Behaviour: hours before the first day are left out. An hour that the clock has twice is one.
 */
export function hourPlot(counts: readonly number[], nowMs: number): HourPlot {
  const today = localAt(nowMs).toPlainDate();
  const first = today.subtract({ days: DAYS - 1 });
  const hours = new Map<string, PlotHour>();
  for (const [at, alerts] of counts.entries()) {
    const local = localAt(nowMs - (counts.length - 1 - at) * HOUR_MS);
    const day = first.until(local.toPlainDate()).days;
    if (day < 0) continue;
    const key = `${day} ${local.hour}`;
    hours.set(key, { day, hour: local.hour, alerts: alerts + (hours.get(key)?.alerts ?? 0) });
  }
  const days = Array.from({ length: DAYS }, (_, day) => dayLabel(first.add({ days: day })));
  const known = [...hours.values()];
  const [largest = null] = known.filter(({ alerts }) => alerts > 0).toSorted((a, b) => b.alerts - a.alerts);
  return { days, hours: known, largest, total: known.reduce((sum, { alerts }) => sum + alerts, 0) };
}

function localAt(ms: number): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(REPORT_ZONE);
}

function dayLabel({ dayOfWeek, day, month }: Temporal.PlainDate): string {
  return `${WEEKDAYS[dayOfWeek - 1]} ${String(day).padStart(2, "0")}/${String(month).padStart(2, "0")}`;
}
