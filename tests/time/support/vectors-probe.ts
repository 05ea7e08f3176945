/** What each of `WINDOW_VECTORS` gives on this runtime; prints one line of JSON for `runtimes.test.ts`. */
import { formatInstant } from "../../../lib/time/instant.ts";
import { isReportDay } from "../../../lib/time/report-day.ts";
import { Temporal } from "../../../lib/time/temporal.ts";
import { weekWindow } from "../../../lib/time/week-window.ts";
import { WINDOW_VECTORS } from "./vectors.ts";

const results = WINDOW_VECTORS.map(([text]) => {
  const now = Temporal.Instant.from(text);
  const { start, end, week } = weekWindow(now);
  return [text, isReportDay(now), formatInstant(start), formatInstant(end), week];
});
console.log(JSON.stringify(results));
