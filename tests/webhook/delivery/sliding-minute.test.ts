import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { SlidingMinute } from "../../../lib/webhook/delivery/sending/sliding-minute.ts";

const RATE = { perMinute: 30, burst: 10 };

/** Starts all that may start, at each of these times. */
function startsAt(rate: SlidingMinute, timesMs: Iterable<number>): number[] {
  const starts: number[] = [];
  for (const nowMs of timesMs)
    while (rate.available(nowMs) > 0) {
      rate.take(nowMs);
      starts.push(nowMs);
    }
  return starts;
}

function* every(ms: number, untilMs: number): Generator<number> {
  for (let nowMs = 0; nowMs <= untilMs; nowMs += ms) yield nowMs;
}

/** The most that started within a minute, both ends included. */
function mostInAMinute(starts: readonly number[]): number {
  return Math.max(
    ...starts.map((atMs) => starts.filter((other) => other >= atMs && other <= atMs + 60_000).length),
  );
}

describe("SlidingMinute", () => {
  test("allows the burst at once, the others of the minute evenly, and as many in every minute after", () => {
    const starts = startsAt(new SlidingMinute(RATE), every(1_000, 600_000));
    expect(starts.slice(0, 12)).toEqual([...Array(10).fill(0), 3_000, 6_000]);
    expect(mostInAMinute(starts)).toBe(30);
    expect(starts.length).toBeGreaterThanOrEqual(290);
    const gaps = starts.slice(1).map((atMs, at) => atMs - starts[at]!);
    // A critical one that comes last is never far from its turn.
    expect(Math.max(...gaps)).toBeLessThanOrEqual(4_000);
  });

  test("allows no more than its rate in any minute, whenever something is asked for, given back or begun anew", async () => {
    const step = fc.record({
      waitMs: fc.integer({ min: 0, max: 20_000 }),
      wanted: fc.nat({ max: 40 }),
      isAnew: fc.boolean(),
    });
    const rates = fc
      .integer({ min: 1, max: 90 })
      .map((perMinute) => ({ perMinute, burst: Math.min(10, Math.ceil(perMinute / 3)) }));
    await fc.assert(
      fc.asyncProperty(rates, fc.array(step, { maxLength: 60 }), async (limits, steps) => {
        const starts: number[] = [];
        let rate = new SlidingMinute(limits);
        let nowMs = 0;
        for (const { waitMs, wanted, isAnew } of steps) {
          nowMs += waitMs;
          if (isAnew) {
            rate = new SlidingMinute(limits);
            await rate.restart(nowMs, async (ms) => starts.filter((atMs) => atMs > nowMs - ms).length);
          }
          for (let each = 0; each < wanted && rate.available(nowMs) > 0; each += 1) {
            rate.take(nowMs);
            if (each % 5 === 4) rate.giveBack();
            else starts.push(nowMs);
          }
        }
        if (starts.length > 0) expect(mostInAMinute(starts)).toBeLessThanOrEqual(limits.perMinute);
      }),
    );
  });

  test("lets one start each two seconds when it is not known what went out before", () => {
    const rate = new SlidingMinute(RATE);
    rate.restartUnknown(0);
    expect(rate.available(0)).toBe(0);
    expect(startsAt(rate, every(1_000, 12_000)).length).toBeGreaterThan(3);
    expect(mostInAMinute(startsAt(rate, every(1_000, 120_000)))).toBeLessThanOrEqual(30);
  });

  test("gives nothing for a clock that goes back, and nothing twice", () => {
    const rate = new SlidingMinute(RATE);
    for (let each = 0; each < 10; each += 1) rate.take(10_000);
    expect(rate.available(5_000)).toBe(0);
    expect(() => rate.take(5_000)).toThrow(RangeError);
    rate.giveBack();
    expect(rate.available(5_000)).toBe(1);
  });
});
