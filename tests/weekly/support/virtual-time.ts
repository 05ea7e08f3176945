/** A clock that only sleeping moves, so that a test waits for nothing. */
import { setImmediate } from "node:timers/promises";

/** The clock and the waits that moved it. */
export type VirtualTime = {
  /** Pass these two to a run. */
  monotonicMs(): number;
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Every wait of a second or more, in order. */
  waitsMs: number[];
  /** Called before each wait of a second or more. */
  onWait: ((ms: number) => Promise<void> | void) | null;
};

/** A clock at zero; those who wait at the same time wait for the same minute. */
export function virtualTime(): VirtualTime {
  let nowMs = 0;
  const time: VirtualTime = {
    monotonicMs: () => nowMs,
    waitsMs: [],
    onWait: null,
    async sleep(ms, signal) {
      if (ms >= 1_000) {
        time.waitsMs.push(ms);
        await time.onWait?.(ms);
      }
      const untilMs = nowMs + ms;
      await setImmediate();
      signal?.throwIfAborted();
      nowMs = Math.max(nowMs, untilMs);
    },
  };
  return time;
}
