import { describe, expect, test } from "bun:test";
import { isReportDay, reportDayEnd } from "../../lib/time/report-day.ts";
import { Temporal } from "../../lib/time/temporal.ts";
import { WINDOW_VECTORS } from "./support/vectors.ts";

describe("isReportDay()", () => {
  test.each(WINDOW_VECTORS)("at %s is %p", (now, reportDay) => {
    expect(isReportDay(Temporal.Instant.from(now))).toBe(reportDay);
  });
});

describe("reportDayEnd()", () => {
  test.each([
    ["2026-11-23T11:00:00Z", "2026-11-24T03:00:00Z"],
    ["2026-11-23T03:00:00Z", "2026-11-24T03:00:00Z"],
    ["2026-11-24T02:59:59.999Z", "2026-11-24T03:00:00Z"],
    // The Monday that began an hour late in 1997, and the first one of summer time in 2018.
    ["1997-10-06T03:00:00Z", "1997-10-07T02:00:00Z"],
    ["2018-11-05T02:00:00Z", "2018-11-06T02:00:00Z"],
  ])("of %s is the next local midnight", (now, end) => {
    expect(reportDayEnd(Temporal.Instant.from(now)).toString()).toBe(end);
  });
});
