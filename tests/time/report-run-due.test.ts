import { describe, expect, test } from "bun:test";
import { isBeforeReportRun, isReportRunDue } from "../../lib/time/report-run-due.ts";
import { Temporal } from "../../lib/time/temporal.ts";

describe("isReportRunDue()", () => {
  test.each([
    ["the first instant of Monday", "2026-11-23T03:00:00Z", false],
    ["08:00, when cron starts it", "2026-11-23T11:00:00Z", false],
    ["the last instant before 08:15", "2026-11-23T11:14:59.999999999Z", false],
    ["08:15", "2026-11-23T11:15:00Z", true],
    ["20:00", "2026-11-23T23:00:00Z", true],
    ["21:00, when the day has ended in UTC", "2026-11-24T00:00:00Z", true],
    ["the last instant of Monday", "2026-11-24T02:59:59.999999999Z", true],
    // With a clock change, which the zone had until 2019: cron's hour is that of UTC.
    ["09:14 of a summer", "2018-11-05T11:14:59Z", false],
    ["09:15 of a summer", "2018-11-05T11:15:00Z", true],
    ["the last instant of a Monday in summer", "2018-11-06T01:59:59Z", true],
  ])("%s", (_when, now, isDue) => {
    expect(isReportRunDue(Temporal.Instant.from(now))).toBe(isDue);
  });
});

describe("isBeforeReportRun()", () => {
  test.each([
    ["the first instant of Monday", "2026-11-23T03:00:00Z", true],
    ["the last instant before cron's hour", "2026-11-23T10:59:59.999999999Z", true],
    ["cron's hour", "2026-11-23T11:00:00Z", false],
    ["the last instant of Monday, Tuesday in UTC", "2026-11-24T02:59:59.999999999Z", false],
  ])("%s", (_when, now, isBefore) => {
    expect(isBeforeReportRun(Temporal.Instant.from(now))).toBe(isBefore);
  });
});
