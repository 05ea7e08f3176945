import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { RateLimit } from "../../../lib/webhook/delivery/rate-limit.ts";

const RATE = { perMinute: 30, burst: 10 };

describe("RateLimit", () => {
  test("lets a burst start at once, then one in each interval, also when another process goes on", () => {
    let nowMs = 0;
    let rate = new RateLimit(RATE, () => nowMs);
    const starts: number[] = [];
    for (; nowMs <= 60_000; nowMs += 500) {
      if (nowMs === 30_000) {
        const { aheadMs } = rate;
        rate = new RateLimit(RATE, () => nowMs);
        rate.resume(aheadMs);
      }
      for (; rate.available > 0; rate.take()) starts.push(nowMs);
    }
    expect(starts.slice(0, 12)).toEqual([...Array(10).fill(0), 2_000, 4_000]);
    expect(starts).toHaveLength(40);
  });

  test("allows no more than burst and rate together in any time, whatever is asked for and given back", () => {
    const step = fc.record({ waitMs: fc.integer({ min: -5_000, max: 20_000 }), wanted: fc.nat({ max: 20 }) });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 90 }), fc.array(step, { maxLength: 60 }), (perMinute, steps) => {
        let nowMs = 0;
        let [firstMs, latestMs] = [0, 0];
        const burst = Math.min(10, Math.ceil(perMinute / 3));
        const rate = new RateLimit({ perMinute, burst }, () => nowMs);
        let started = 0;
        for (const { waitMs, wanted } of steps) {
          nowMs += waitMs;
          [firstMs, latestMs] = [Math.min(firstMs, nowMs), Math.max(latestMs, nowMs)];
          for (let each = 0; each < wanted && rate.available > 0; each += 1) {
            rate.take();
            if (each % 5 === 4) rate.giveBack();
            else started += 1;
          }
          expect(started).toBeLessThanOrEqual(burst + ((latestMs - firstMs) * perMinute) / 60_000 + 1e-3);
        }
      }),
    );
  });

  test("counts the burst as used up when it is not known what went out before", () => {
    let nowMs = 0;
    const rate = new RateLimit(RATE, () => nowMs);
    rate.resume(null);
    expect(rate.available).toBe(0);
    nowMs = 2_000;
    expect(rate.available).toBe(1);
  });
});
