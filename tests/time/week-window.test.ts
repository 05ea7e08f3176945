import { describe, expect, test } from "bun:test";
import * as polyfill from "@js-temporal/polyfill";
import fc from "fast-check";
import { formatInstant } from "../../lib/time/instant.ts";
import { Temporal } from "../../lib/time/temporal.ts";
import { REPORT_ZONE, weekWindow } from "../../lib/time/week-window.ts";
import { WINDOW_VECTORS } from "./support/vectors.ts";

const BOTH = {
  runtime: Temporal,
  polyfill: polyfill.Temporal as unknown as typeof Temporal,
};

const HOUR_NS = 3_600_000_000_000n;

describe.each(Object.entries(BOTH))("weekWindow() with the %s's Temporal", (_name, Implementation) => {
  test.each(WINDOW_VECTORS)("at %s", (now, _reportDay, start, end, hours, _shown, week) => {
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
