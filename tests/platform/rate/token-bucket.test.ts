import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { TokenBucket } from "../../../lib/platform/rate/token-bucket.ts";

const RATE = { perMinute: 30, burst: 10 };

describe("TokenBucket", () => {
  test("allows the burst at once, then one each two seconds", () => {
    const bucket = new TokenBucket(RATE, 0);
    for (let i = 0; i < 10; i += 1) bucket.take(0);
    expect(bucket.available(0)).toBe(0);
    expect(bucket.available(1_999)).toBe(0);
    expect(bucket.available(2_000)).toBe(1);
    bucket.take(2_000);
    expect(bucket.available(3_999)).toBe(0);
    expect(bucket.available(4_000)).toBe(1);
  });

  test("never has more tokens than the burst", () => {
    const bucket = new TokenBucket(RATE, 0);
    expect(bucket.available(86_400_000)).toBe(10);
  });

  test("begins anew without what was spent before, and not below nothing", () => {
    const bucket = new TokenBucket(RATE, 0);
    expect(bucket.fillMs).toBe(20_000);
    bucket.restart(1_000, 7);
    expect(bucket.available(1_000)).toBe(3);
    bucket.restart(1_000, Number.POSITIVE_INFINITY);
    expect(bucket.available(2_999)).toBe(0);
    expect(bucket.available(3_000)).toBe(1);
  });

  test("gives nothing for a clock that goes back, and nothing twice", () => {
    const bucket = new TokenBucket(RATE, 10_000);
    for (let i = 0; i < 10; i += 1) bucket.take(10_000);
    expect(bucket.available(5_000)).toBe(0);
    expect(() => bucket.take(5_000)).toThrow(RangeError);
  });

  test("counts no time twice when the clock goes back and comes here again", () => {
    const bucket = new TokenBucket(RATE, 0);
    for (let i = 0; i < 10; i += 1) bucket.take(60_000);
    expect([bucket.available(0), bucket.available(60_000), bucket.available(62_000)]).toEqual([0, 0, 1]);
  });

  test("starts no more in any while than the burst and what the while brings", () => {
    const steps = fc.array(fc.integer({ min: 0, max: 5_000 }), { minLength: 1, maxLength: 200 });
    fc.assert(
      fc.property(steps, (waits) => {
        const bucket = new TokenBucket(RATE, 0);
        let nowMs = 0;
        let started = 0;
        for (const waitMs of waits) {
          nowMs += waitMs;
          while (bucket.available(nowMs) > 0) {
            bucket.take(nowMs);
            started += 1;
          }
          expect(started).toBeLessThanOrEqual(10 + (nowMs * 30) / 60_000 + 1e-6);
        }
      }),
    );
  });
});
