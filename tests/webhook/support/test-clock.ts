/** A clock that moves when a test says so, and wakes what sleeps by it, in order. */
import { setTimeout as delay } from "node:timers/promises";

/** The clock; `sleep` throws when its signal is aborted, as the real one. */
export type TestClock = {
  nowMs: () => number;
  sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Moves on four seconds at a time; after each, what was woken has its time to work until `progress` stands still. */
  advance(ms: number): Promise<void>;
};

/** A compromise: each step costs some real milliseconds. */
const STEP_MS = 4_000;

/** How many looks have to find nothing going on: on a busy machine a call on its way is silent for a while. */
const QUIET_LOOKS = 5;

/** Makes a clock; `progress` is a number that changes while something is going on. */
export function testClock(startMs: number, progress: () => number): TestClock {
  let nowMs = startMs;
  const sleepers = new Set<{ atMs: number; wake(): void }>();
  const settle = async () => {
    let before = Number.NaN;
    for (let quiet = 0; quiet < QUIET_LOOKS; ) {
      await delay(1);
      quiet = progress() === before ? quiet + 1 : 0;
      before = progress();
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
  };
}
