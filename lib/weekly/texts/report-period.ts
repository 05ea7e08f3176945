import { formatDayMonth } from "../../text/pt-br.ts";
import { weekDates } from "../../time/week-dates.ts";
import type { Payload } from "../payload.ts";

/** A report's week as links and as people name it. */
export type ReportPeriod = { week: string; days: string };

/**
 * The week of a stored report.
 *
 * Shape: `week` is Monday as YYYY-MM-DD; `days` is "16/11 a 22/11", from Monday to the Sunday inside the window.
 */
export function reportPeriod({ windowStart, windowEnd }: Payload): ReportPeriod {
  const { first, last } = weekDates(windowStart, windowEnd);
  return { week: first.toString(), days: `${formatDayMonth(first)} a ${formatDayMonth(last)}` };
}
