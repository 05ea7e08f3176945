import { describe, expect, test } from "bun:test";
import { type RateLimiter, rateLimiter } from "../../../lib/platform/rate/rate-limiter.ts";

/** A clock that jumps to the next sleeper when everybody waits. */
function fakeClock() {
  let now = 0;
  const sleepers: { at: number; wake: () => void }[] = [];
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  return {
    nowMs: () => now,
    sleep: (ms: number, signal: AbortSignal) =>
      new Promise<void>((resolve) => {
        sleepers.push({ at: now + ms, wake: resolve });
        signal.addEventListener("abort", () => resolve(), { once: true });
      }),
    settle,
    async runUntil(end: number) {
      await settle();
      while (true) {
        sleepers.sort((a, b) => a.at - b.at);
        const next = sleepers[0];
        if (next === undefined || next.at > end) break;
        sleepers.shift();
        now = Math.max(now, next.at);
        next.wake();
        await settle();
      }
      now = Math.max(now, end);
    },
  };
}

function acquireAll(rate: RateLimiter, clock: ReturnType<typeof fakeClock>, count: number): number[] {
  const starts: number[] = [];
  for (let at = 0; at < count; at += 1) void rate.acquire().then(() => starts.push(clock.nowMs()));
  return starts;
}

const mostInAnyWindow = (starts: number[], windowMs: number) =>
  Math.max(...starts.map((start) => starts.filter((at) => at >= start && at < start + windowMs).length));

describe("rateLimiter()", () => {
  test("spreads the starts evenly", async () => {
    const clock = fakeClock();
    const rate = rateLimiter({ perSecond: 0.5, ...clock });
    const starts = acquireAll(rate, clock, 4);
    await clock.runUntil(60_000);
    expect(starts).toEqual([0, 2000, 4000, 6000]);
    expect(rate.perSecond()).toBe(0.5);
  });

  test("saves up nothing while nobody calls", async () => {
    const clock = fakeClock();
    const rate = rateLimiter({ perSecond: 0.5, ...clock });
    await rate.acquire();
    await clock.runUntil(60_000);
    const starts = acquireAll(rate, clock, 3);
    await clock.runUntil(120_000);
    expect(starts).toEqual([60_000, 62_000, 64_000]);
  });

  test("gives a start at once where nobody would wait, and none in a queue", async () => {
    const clock = fakeClock();
    const rate = rateLimiter({ perSecond: 0.5, ...clock });
    expect(rate.tryAcquire()).toBe(true);
    // It counts like any other start.
    expect(rate.tryAcquire()).toBe(false);
    const starts = acquireAll(rate, clock, 1);
    await clock.runUntil(2_000);
    expect(starts).toEqual([2000]);
    expect(rate.tryAcquire()).toBe(false);
    await clock.runUntil(4_000);
    expect(rate.tryAcquire()).toBe(true);
  });

  test("keeps to a new rate from the next start on, and uses nearly all of it", async () => {
    const clock = fakeClock();
    const rate = rateLimiter({ perSecond: 5 / 1.04, ...clock });
    const starts = acquireAll(rate, clock, 2_000);
    await clock.runUntil(100_000);
    expect(mostInAnyWindow(starts, 1_000)).toBeLessThanOrEqual(5);
    expect(starts.length).toBeGreaterThanOrEqual(0.95 * 500);
    const before = starts.length;
    rate.setRate(10);
    await clock.runUntil(200_000);
    expect(starts.length - before).toBeWithin(999, 1_002);
    rate.setRate(null);
    await clock.runUntil(200_000);
    expect(starts).toHaveLength(2_000);
    expect(rate.perSecond()).toBeNull();
  });

  test("pauses everybody for as long as it is asked to, and never less", async () => {
    const clock = fakeClock();
    const rate = rateLimiter({ perSecond: 10, ...clock });
    const starts = acquireAll(rate, clock, 3);
    await clock.settle();
    rate.pause(7_000);
    rate.pause(1_000);
    await clock.runUntil(20_000);
    expect(starts).toEqual([0, 7_000, 7_100]);
  });

  test("an aborted call leaves the queue and gives its place to the next", async () => {
    const clock = fakeClock();
    const rate = rateLimiter({ perSecond: 1, ...clock });
    await rate.acquire();
    const shutdown = new AbortController();
    const leaving = rate.acquire(shutdown.signal);
    const starts = acquireAll(rate, clock, 1);
    shutdown.abort(new Error("shutting down"));
    await expect(leaving).rejects.toThrow("shutting down");
    await clock.runUntil(10_000);
    expect(starts).toEqual([1000]);
    await expect(rate.acquire(AbortSignal.abort(new Error("too late")))).rejects.toThrow("too late");
  });

  test("never waits without a rate", async () => {
    const rate = rateLimiter({ perSecond: null });
    for (let at = 0; at < 1_000; at += 1) await rate.acquire();
    expect(rate.tryAcquire()).toBe(true);
  });

  test("works with the clock of the host", async () => {
    const rate = rateLimiter({ perSecond: 50 });
    const starts: number[] = [];
    for (let at = 0; at < 5; at += 1) {
      await rate.acquire();
      starts.push(performance.now());
    }
    expect(starts[4]! - starts[0]!).toBeGreaterThanOrEqual(4 * 20 - 6);
  });
});
