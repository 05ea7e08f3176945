/** A clock that moves when a test says so, and wakes what sleeps by it, in order. */
import { setTimeout as delay, setImmediate as turn } from "node:timers/promises";

/** The clock; `sleep` ends when its signal is aborted, as the real one. */
export type TestClock = {
  nowMs: () => number;
  sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /**
   * Moves on to each moment for which something waits, and lets what was woken work until nothing goes on.
   *
   * Units: from one such moment to the next at least `stepMs`: over hours, minutes are enough.
   */
  advance(ms: number, stepMs?: number): Promise<void>;
  /** Lets what has begun work until nothing goes on; the clock stands still. */
  settle(): Promise<void>;
  /** Stands still while this call goes on, but for one that `isHanging` counts as one that nothing will end. */
  during<Result>(call: Promise<Result>): Promise<Result>;
};

/** What the clock has to know of its surroundings. */
export type ClockOptions = {
  /** How many calls are under way that no one will answer. */
  hanging?: () => number;
  /** Whether something may begin that the clock does not see coming, such as a request on its way. */
  isExpecting?: () => boolean;
  /** Sets other clocks. */
  onMove?: (nowMs: number) => Promise<void>;
};

/** How many looks in a row have to find nothing going on; what one process does by itself takes a turn or two. */
const QUIET_LOOKS = 4;

/** How many looks may come one right after the other: a call to a peer of this process is over by then. */
const BUSY_LOOKS = 500;

/** Makes a clock that stands at `startMs`. */
export function testClock(startMs: number, options: ClockOptions = {}): TestClock {
  const { hanging = () => 0, isExpecting = () => false, onMove = async () => {} } = options;
  let nowMs = startMs;
  let underWay = 0;
  let begun = 0;
  let moving: Promise<void> = Promise.resolve();
  const sleepers = new Set<{ atMs: number; wake(): void }>();

  async function settle(): Promise<void> {
    let before = Number.NaN;
    for (let quiet = 0, looks = 0; quiet < QUIET_LOOKS; looks += 1) {
      await (looks > BUSY_LOOKS || isExpecting() ? delay(1) : turn());
      quiet = underWay <= hanging() && begun === before ? quiet + 1 : 0;
      before = begun;
    }
  }

  async function move(ms: number, stepMs: number): Promise<void> {
    await settle();
    for (const endMs = nowMs + ms; nowMs < endMs; ) {
      const next = Math.min(...[...sleepers].map(({ atMs }) => atMs));
      nowMs = Math.min(endMs, Math.max(next, nowMs + stepMs));
      await onMove(nowMs);
      const due = [...sleepers].filter(({ atMs }) => atMs <= nowMs).sort((a, b) => a.atMs - b.atMs);
      for (const sleeper of due) sleeper.wake();
      await settle();
    }
  }

  return {
    nowMs: () => nowMs,
    settle,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal.aborted) return resolve();
        const wake = () => {
          sleepers.delete(sleeper);
          signal.removeEventListener("abort", wake);
          resolve();
        };
        const sleeper = { atMs: nowMs + ms, wake };
        signal.addEventListener("abort", wake);
        sleepers.add(sleeper);
      }),
    // One move after the other: a post that waits for its answer moves the clock, too.
    advance(ms, stepMs = 1) {
      moving = moving.then(() => move(ms, stepMs));
      return moving;
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
