import { describe, expect, test } from "bun:test";
import * as polyfill from "@js-temporal/polyfill";
import fc from "fast-check";
import { formatDayMonth } from "../../lib/text/pt-br.ts";
import { formatInstant } from "../../lib/time/instant.ts";
import { localTime } from "../../lib/time/local-time.ts";
import { isReportDay, reportDayEnd } from "../../lib/time/report-day.ts";
import { isBeforeReportRun, isReportRunDue } from "../../lib/time/report-run-due.ts";
import { Temporal } from "../../lib/time/temporal.ts";
import { isToCome } from "../../lib/time/to-come.ts";
import { weekDates } from "../../lib/time/week-dates.ts";
import { REPORT_ZONE, weekWindow } from "../../lib/time/week-window.ts";
import { WINDOW_VECTORS } from "./support/vectors.ts";

const BOTH = {
  runtime: Temporal,
  polyfill: polyfill.Temporal as unknown as typeof Temporal,
};

const HOUR_NS = 3_600_000_000_000n;

const at = (text: string) => Temporal.Instant.from(text);

describe.each(Object.entries(BOTH))("week and report day with the %s's Temporal", (_name, Implementation) => {
  test.each(WINDOW_VECTORS)("at %s", (now, reportDay, start, end, hours, _shown, week) => {
    expect(isReportDay(Implementation.Instant.from(now))).toBe(reportDay);
    const window = weekWindow(Implementation.Instant.from(now));
    expect(formatInstant(window.start)).toBe(start);
    expect(formatInstant(window.end)).toBe(end);
    expect(window.week).toBe(week);
    expect(window.end.epochNanoseconds - window.start.epochNanoseconds).toBe(BigInt(hours) * HOUR_NS);
  });
});

const instants = fc
  .bigInt({
    min: Temporal.Instant.from("1970-01-01T00:00Z").epochNanoseconds,
    max: 4_102_444_800_000_000_000n,
  })
  .map((epochNanoseconds) => Temporal.Instant.fromEpochNanoseconds(epochNanoseconds));

const zones = fc.constantFrom(REPORT_ZONE, "UTC", "Asia/Kathmandu", "Pacific/Apia", "America/New_York");

describe("weekWindow()", () => {
  test("is seven dates from a Monday, in the given zone", () => {
    fc.assert(
      fc.property(instants, zones, (now, zone) => {
        const { start, end, week } = weekWindow(now, zone);
        const first = start.toZonedDateTimeISO(zone).toPlainDate();
        const after = end.toZonedDateTimeISO(zone).toPlainDate();
        expect(first.dayOfWeek).toBe(1);
        expect(first.until(after).days).toBe(7);
        expect(week).toBe(first.toString());
      }),
    );
  });

  test("is the last closed one: it ends at or before now, and less than a week and a day ago", () => {
    fc.assert(
      fc.property(instants, zones, (now, zone) => {
        const { end } = weekWindow(now, zone);
        expect(Temporal.Instant.compare(end, now)).toBeLessThanOrEqual(0);
        expect(end.until(now).total("hours")).toBeLessThan(8 * 24);
      }),
    );
  });

  test("leaves no moment between two weeks and counts none twice", () => {
    fc.assert(
      fc.property(instants, zones, (now, zone) => {
        const { start, end } = weekWindow(now, zone);
        expect(weekWindow(start, zone).end.equals(start)).toBe(true);
        expect(weekWindow(end, zone).start.equals(start)).toBe(true);
        const lastMoment = end.subtract({ nanoseconds: 1 });
        expect(weekWindow(lastMoment, zone).end.equals(start)).toBe(true);
      }),
    );
  });

  test("says which zone it does not know", () => {
    const now = Temporal.Instant.from("2026-11-23T11:00:00Z");
    expect(() => weekWindow(now, "Mars/Base")).toThrow(
      expect.objectContaining({
        code: "WINDOW_UNKNOWN_ZONE",
        message: expect.stringContaining('"Mars/Base"'),
      }),
    );
  });
});

test("Temporal is the runtime's own where there is one, else the polyfill's", async () => {
  expect(Temporal).toBe(globalThis.Temporal);
  const program = `delete globalThis.Temporal;
    const { Temporal } = await import(${JSON.stringify(import.meta.resolve("../../lib/time/temporal.ts"))});
    const { weekWindow } = await import(${JSON.stringify(import.meta.resolve("../../lib/time/week-window.ts"))});
    console.log(weekWindow(Temporal.Instant.from("2026-11-23T11:00:00Z")).start.toString());`;
  const child = Bun.spawn([process.execPath, "-e", program], { stdout: "pipe", stderr: "inherit" });
  expect((await new Response(child.stdout).text()).trim()).toBe("2026-11-16T03:00:00Z");
});

test.each(WINDOW_VECTORS)(
  "weekDates() before %s runs from Monday to Sunday",
  (_now, _day, start, end, _h, shown, week) => {
    const { first, last } = weekDates(start, end);
    expect(`${formatDayMonth(first)} a ${formatDayMonth(last)}`).toBe(shown);
    expect([first.toString(), last.dayOfWeek]).toEqual([week, 7]);
  },
);

test.each([
  ["2026-11-16T00:00:00-03:00", "2026-11-16T03:00:00Z"],
  ["2026-11-23T11:00:00.120Z", "2026-11-23T11:00:00.12Z"],
  ["2026-11-23T11:00:00.123456Z", "2026-11-23T11:00:00.123456Z"],
])("formatInstant() of %s is in UTC with Z", (text, expected) => {
  expect(formatInstant(at(text))).toBe(expected);
});

test.each([
  ["2026-11-24T03:00:00Z", "2026-11-24 00:00:00"],
  ["2026-11-23T02:59:59.999999Z", "2026-11-22 23:59:59"],
  // Summer time, which the zone had until 2019.
  ["2018-11-05T10:00:00Z", "2018-11-05 08:00:00"],
])("localTime() shows %s as %s in São Paulo", (instant, expected) => {
  expect(localTime(instant)).toBe(expected);
});

test.each([
  ["2026-11-23T03:00:00Z", "2026-11-24T03:00:00Z"],
  ["2026-11-24T02:59:59.999Z", "2026-11-24T03:00:00Z"],
  // The Monday that began an hour late in 1997, and the first one of summer time in 2018.
  ["1997-10-06T03:00:00Z", "1997-10-07T02:00:00Z"],
  ["2018-11-05T02:00:00Z", "2018-11-06T02:00:00Z"],
])("reportDayEnd() of %s is the next local midnight", (now, end) => {
  expect(reportDayEnd(at(now)).toString()).toBe(end);
});

test.each([
  ["the first instant of Monday", "2026-11-23T03:00:00Z", true, false],
  ["the last instant before cron's hour", "2026-11-23T10:59:59.999999999Z", true, false],
  ["08:00, when cron starts it", "2026-11-23T11:00:00Z", false, false],
  ["the last instant before 08:15", "2026-11-23T11:14:59.999999999Z", false, false],
  ["08:15", "2026-11-23T11:15:00Z", false, true],
  ["the last instant of Monday, Tuesday in UTC", "2026-11-24T02:59:59.999999999Z", false, true],
  // With a clock change, which the zone had until 2019: cron's hour is that of UTC.
  ["09:14 of a summer", "2018-11-05T11:14:59Z", false, false],
  ["09:15 of a summer", "2018-11-05T11:15:00Z", false, true],
  ["the last instant of a Monday in summer", "2018-11-06T01:59:59Z", false, true],
])("a report's run at %s", (_when, now, isBefore, isDue) => {
  expect([isBeforeReportRun(at(now)), isReportRunDue(at(now))]).toEqual([isBefore, isDue]);
});

test("isToCome() allows another clock to be ahead by a minute", () => {
  expect([0, -60_000, -60_001, Number.NEGATIVE_INFINITY].map(isToCome)).toEqual([false, false, true, true]);
});
