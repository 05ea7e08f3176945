import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { hourPlot } from "../../../../lib/webhook/http/page/hour-plot.ts";
import { NOW_MS } from "../../support/page-facts.ts";

const hoursAgo = (counts: Record<number, number>, length = 192) =>
  Array.from({ length }, (_, at) => counts[length - 1 - at] ?? 0);

describe("hourPlot()", () => {
  test("puts each hour on the day and hour of the clock in São Paulo, today last", () => {
    // It is Monday 03:12 there.
    const { days, hours, largest, total } = hourPlot(
      hoursAgo({ 0: 1, 3: 2, 4: 7, 147: 3, 148: 100 }),
      NOW_MS,
    );
    expect(days[0]).toBe("ter 24/02");
    expect(days[6]).toBe("seg 02/03");
    expect(hours.filter(({ alerts }) => alerts > 0)).toEqual([
      { day: 0, hour: 0, alerts: 3 },
      { day: 5, hour: 23, alerts: 7 },
      { day: 6, hour: 0, alerts: 2 },
      { day: 6, hour: 3, alerts: 1 },
    ]);
    expect([largest, total]).toEqual([{ day: 5, hour: 23, alerts: 7 }, 13]);
  });

  test("has seven days and nothing largest where nothing came", () => {
    expect(hourPlot([], NOW_MS)).toMatchObject({ hours: [], largest: null, total: 0 });
    expect(hourPlot(hoursAgo({}), NOW_MS)).toMatchObject({ largest: null, total: 0 });
  });

  test("loses no alert of the seven days, whatever the clock does", () => {
    // The years in which clocks changed there are among these.
    const moment = fc.integer({ min: Date.parse("2015-01-01"), max: Date.parse("2030-01-01") });
    fc.assert(
      fc.property(moment, fc.array(fc.nat(9), { minLength: 192, maxLength: 192 }), (nowMs, counts) => {
        const { hours, total, days } = hourPlot(counts, nowMs);
        expect(new Set(days).size).toBe(7);
        expect(new Set(hours.map(({ day, hour }) => `${day} ${hour}`)).size).toBe(hours.length);
        const recent = counts.slice(-6 * 24 - 1).reduce((sum, count) => sum + count, 0);
        const all = counts.reduce((sum, count) => sum + count, 0);
        expect(total).toBeGreaterThanOrEqual(recent - 9);
        expect(total).toBeLessThanOrEqual(all);
        expect(hours.every(({ day, hour }) => day >= 0 && day < 7 && hour >= 0 && hour < 24)).toBe(true);
      }),
      { numRuns: 60 },
    );
  });
});
