import { REPORT_ZONE } from "./local-date.ts";
import { Temporal } from "./temporal.ts";

/**
 * An instant as the clocks of the report's zone show it, for people: `2026-11-23 08:00:02`.
 *
 * Shape: to the second; the caller names the zone beside it.
 */
export function localTime(instant: string): string {
  const local = Temporal.Instant.from(instant).toZonedDateTimeISO(REPORT_ZONE).toPlainDateTime();
  return local.toString({ smallestUnit: "second" }).replace("T", " ");
}
