import { pause } from "../timeout.ts";

/**
 * Says when the next call to a service may start, so that many calls keep to one rate.
 *
 * Shape:  `acquire` waits for the next start, first come, first served; `tryAcquire` takes it only where nobody would
 *         wait; `setRate` replaces the rate, null for none; `pause` stops all starts for a while; `perSecond` is the
 *         rate, or null.
 * Units:  milliseconds of a monotonic clock.
 * Errors: `acquire` rejects with the signal's reason when it is aborted.
 */
export type RateLimiter = {
  acquire(signal?: AbortSignal): Promise<void>;
  tryAcquire(): boolean;
  setRate(perSecond: number | null): void;
  pause(ms: number): void;
  perSecond(): number | null;
};

/**
 * How late a start may be and still count as in time, so that a busy host does not lower the rate: less than the margin
 * of a rate that is kept below what a service publishes for a second.
 */
const LATE_MS = 30;

/**
 * A rate limiter for one service, shared by all that call it: starts are evenly spread.
 *
 * Behaviour: no timer runs while nobody waits.
 */
export function rateLimiter(options: {
  perSecond: number | null;
  nowMs?: () => number;
  sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
}): RateLimiter {
  const { nowMs = () => performance.now(), sleep = pause } = options;
  let perSecond = options.perSecond;
  let lastMs = Number.NEGATIVE_INFINITY;
  let pausedUntilMs = Number.NEGATIVE_INFINITY;
  const queue: (() => void)[] = [];
  let waiting = new AbortController();

  const dueMs = () => (perSecond === null ? lastMs : lastMs + 1_000 / perSecond);
  const waitMs = () => Math.max(0, dueMs() - nowMs(), pausedUntilMs - nowMs());
  const start = () => {
    const now = nowMs();
    lastMs = now - dueMs() <= LATE_MS ? dueMs() : now;
  };

  async function advance(): Promise<void> {
    waiting.abort();
    waiting = new AbortController();
    const { signal } = waiting;
    while (queue.length > 0 && !signal.aborted) {
      const ms = waitMs();
      if (ms > 0) await sleep(ms, signal);
      else queue.shift()!();
    }
  }

  return {
    async acquire(signal) {
      signal?.throwIfAborted();
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const leave = () => {
        queue.splice(queue.indexOf(go), 1);
        if (queue.length === 0) waiting.abort();
        reject(signal?.reason);
      };
      const go = () => {
        signal?.removeEventListener("abort", leave);
        start();
        resolve();
      };
      signal?.addEventListener("abort", leave, { once: true });
      if (queue.push(go) === 1) void advance();
      await promise;
    },
    tryAcquire() {
      const isFree = queue.length === 0 && waitMs() === 0;
      if (isFree) start();
      return isFree;
    },
    setRate(rate) {
      if (rate === perSecond) return;
      perSecond = rate;
      void advance();
    },
    pause(ms) {
      pausedUntilMs = Math.max(pausedUntilMs, nowMs() + ms);
      void advance();
    },
    perSecond: () => perSecond,
  };
}
