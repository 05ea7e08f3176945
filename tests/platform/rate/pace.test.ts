import { describe, expect, test } from "bun:test";
import { createPace, noPace, type Pace } from "../../../lib/platform/rate/pace.ts";

/** A clock that jumps to the next sleeper when everybody waits. */
function fakeClock() {
  let now = 0;
  const sleepers: { at: number; wake: () => void }[] = [];
  const settle = async () => {
    for (let turns = 0; turns < 50; turns += 1) await Promise.resolve();
  };
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

function take(pace: Pace, clock: ReturnType<typeof fakeClock>, count: number) {
  const starts: number[] = [];
  const releases: (() => void)[] = [];
  const all = Array.from({ length: count }, () =>
    pace.turn().then((release) => {
      starts.push(clock.nowMs());
      releases.push(release);
    }),
  );
  return { starts, releases, all: Promise.all(all) };
}

const mostInAnyWindow = (starts: number[], windowMs: number) =>
  Math.max(...starts.map((start) => starts.filter((at) => at >= start && at < start + windowMs).length));

describe("createPace()", () => {
  test("spreads the turns of a fixed rate evenly", async () => {
    const clock = fakeClock();
    const pace = createPace({ perMinute: 30, ...clock });
    const { starts } = take(pace, clock, 4);
    await clock.runUntil(60_000);
    expect(starts).toEqual([0, 2000, 4000, 6000]);
    expect(pace.perSecond()).toBe(0.5);
  });

  test("gives a turn at once where nobody would wait, and none in a queue", async () => {
    const clock = fakeClock();
    const pace = createPace({ perMinute: 30, ...clock });
    expect(pace.tryTurn()).toBeFunction();
    // It counts like any other turn.
    expect(pace.tryTurn()).toBeNull();
    const { starts } = take(pace, clock, 1);
    await clock.runUntil(2_000);
    expect(starts).toEqual([2000]);
    expect(pace.tryTurn()).toBeNull();
    await clock.runUntil(4_000);
    expect(pace.tryTurn()).toBeFunction();
  });

  test("keeps to a fixed rate whatever the service publishes", async () => {
    const clock = fakeClock();
    const pace = createPace({ perMinute: 60, ...clock });
    pace.limit(100, 1000);
    pace.free();
    const { starts } = take(pace, clock, 3);
    await clock.runUntil(60_000);
    expect(starts).toEqual([0, 1000, 2000]);
  });

  test("lets one turn out until the service's rate is known, then keeps to it", async () => {
    const clock = fakeClock();
    const pace = createPace(clock);
    const { starts } = take(pace, clock, 600);
    await clock.runUntil(1000);
    expect(starts).toEqual([0]);
    expect([pace.perSecond(), pace.tryTurn()]).toEqual([null, null]);
    pace.limit(5, 1000);
    await clock.runUntil(101_000);
    expect(mostInAnyWindow(starts, 1000)).toBeLessThanOrEqual(5);
    const inHundredSeconds = starts.filter((at) => at >= 1000 && at < 101_000).length;
    expect(inHundredSeconds).toBeGreaterThanOrEqual(0.95 * 500);
    expect(pace.perSecond()).toBeCloseTo(5 / 1.04, 5);
  });

  test("a turn released without an answer makes the next one the first", async () => {
    const clock = fakeClock();
    const pace = createPace(clock);
    const { starts, releases } = take(pace, clock, 3);
    await clock.settle();
    releases[0]?.();
    releases[0]?.();
    await clock.settle();
    expect(starts).toHaveLength(2);
    pace.free();
    await clock.settle();
    expect(starts).toHaveLength(3);
    expect(pace.perSecond()).toBeNull();
  });

  test("pauses everybody for as long as the service asks, and never less", async () => {
    const clock = fakeClock();
    const pace = createPace(clock);
    pace.limit(10, 1000);
    const { starts } = take(pace, clock, 3);
    await clock.settle();
    pace.hold(7_000);
    pace.hold(1_000);
    await clock.runUntil(20_000);
    expect(starts).toEqual([0, 7_000, 7_104]);
  });

  test("a used-up window stops us only when others have used it", async () => {
    const clock = fakeClock();
    const pace = createPace(clock);
    pace.limit(4, 1000);
    const own = take(pace, clock, 4);
    await clock.runUntil(800);
    expect(own.starts).toHaveLength(4);
    pace.spent(1_000);
    const afterOwn = take(pace, clock, 1);
    await clock.runUntil(1_100);
    expect(afterOwn.starts).toEqual([1040]);

    await clock.runUntil(10_000);
    await take(pace, clock, 1).all;
    pace.spent(2_000);
    const afterOthers = take(pace, clock, 1);
    await clock.runUntil(20_000);
    expect(afterOthers.starts).toEqual([12_000]);
  });

  test("an aborted turn leaves the line and gives its place to the next", async () => {
    const clock = fakeClock();
    const pace = createPace({ perMinute: 60, ...clock });
    await pace.turn();
    const shutdown = new AbortController();
    const leaving = pace.turn(shutdown.signal);
    const { starts } = take(pace, clock, 1);
    shutdown.abort(new Error("shutting down"));
    await expect(leaving).rejects.toThrow("shutting down");
    await clock.runUntil(10_000);
    expect(starts).toEqual([1000]);
    await expect(pace.turn(AbortSignal.abort(new Error("too late")))).rejects.toThrow("too late");
  });

  test("paces for real with the clock of the host", async () => {
    const pace = createPace({ perMinute: 3_000 });
    const starts: number[] = [];
    for (let turn = 0; turn < 5; turn += 1) {
      await pace.turn();
      starts.push(performance.now());
    }
    expect(starts[4]! - starts[0]!).toBeGreaterThanOrEqual(4 * 20 - 1);
  });
});

describe("noPace", () => {
  test("never waits", async () => {
    noPace.hold(1_000_000);
    await noPace.turn();
    expect(noPace.perSecond()).toBeNull();
  });
});
