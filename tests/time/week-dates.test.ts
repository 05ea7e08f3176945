import { expect, test } from "bun:test";
import { formatDayMonth } from "../../lib/text/pt-br.ts";
import { weekDates } from "../../lib/time/week-dates.ts";
import { WINDOW_VECTORS } from "./support/vectors.ts";

test.each(WINDOW_VECTORS)(
  "weekDates() before %s runs from Monday to Sunday",
  (_now, _day, start, end, _h, shown, week) => {
    const { first, last } = weekDates(start, end);
    expect(`${formatDayMonth(first)} a ${formatDayMonth(last)}`).toBe(shown);
    expect(first.toString()).toBe(week);
    expect(last.dayOfWeek).toBe(7);
  },
);
