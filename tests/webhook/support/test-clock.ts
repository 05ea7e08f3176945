/** A clock that moves when a test says so, and wakes what sleeps by it, in order. */
import { setTimeout as delay } from "node:timers/promises";

/** The clock; `sleep` throws when its signal is aborted, as the real one. */
export type TestClock = {
  nowMs: () => number;
  sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Moves on four seconds at a time; after each, what was woken has its time to work until nothing goes on. */
  advance(ms: number): Promise<void>;
  /** Stands still while this call goes on, but for one that `isHanging` counts as one that nothing will end. */
  during<Result>(call: Promise<Result>): Promise<Result>;
};

/** A compromise: each step costs some real milliseconds. */
const STEP_MS = 4_000;

/** How many looks in a row have to find nothing going on; what one process does by itself takes a turn or two. */
const QUIET_LOOKS = 3;

/** Makes a clock; `hanging` counts the calls under way that no one will answer. */
export function testClock(startMs: number, hanging: () => number = () => 0): TestClock {
  let nowMs = startMs;
  let underWay = 0;
  let begun = 0;
  const sleepers = new Set<{ atMs: number; wake(): void }>();
  const settle = async () => {
    let before = Number.NaN;
    for (let quiet = 0; quiet < QUIET_LOOKS; ) {
      await delay(1);
      quiet = underWay <= hanging() && begun === before ? quiet + 1 : 0;
      before = begun;
    }
  };
  return {
    nowMs: () => nowMs,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        const abort = () => {
          sleepers.delete(sleeper);
          reject(new Error("aborted"));
        };
        const sleeper = {
          atMs: nowMs + ms,
          wake() {
            sleepers.delete(sleeper);
            signal.removeEventListener("abort", abort);
            resolve();
          },
        };
        if (signal.aborted) return abort();
        signal.addEventListener("abort", abort, { once: true });
        sleepers.add(sleeper);
      }),
    async advance(ms) {
      for (const endMs = nowMs + ms; nowMs < endMs; ) {
        nowMs += Math.min(STEP_MS, endMs - nowMs);
        const due = [...sleepers].filter(({ atMs }) => atMs <= nowMs).sort((a, b) => a.atMs - b.atMs);
        for (const sleeper of due) sleeper.wake();
        await settle();
      }
    },
    async during(call) {
      begun += 1;
      underWay += 1;
      try {
        return await call;
      } finally {
        underWay -= 1;
      }
    },
  };
}
