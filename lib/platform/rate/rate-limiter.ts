import { pause } from "../timeout.ts";

const NEVER = new AbortController().signal;

/** What `rateLimiter` returns. */
export type RateLimiter = ReturnType<typeof rateLimiter>;

/**
 * Says when the next call to a service may start, so that all that share it keep to one rate: starts are evenly spread.
 *
 * Shape:  `acquire` waits for the next start, first come, first served; `tryAcquire` takes it only where nobody would
 *         wait; `setRate` replaces the rate, null for none; `pause` stops all starts for a while.
 * Units:  milliseconds of a monotonic clock.
 * Errors: `acquire` rejects with the signal's reason when it is aborted.
 */
export function rateLimiter(options: {
  perSecond: number | null;
  nowMs?: () => number;
  sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
}) {
  const { nowMs = () => performance.now(), sleep = pause } = options;
  let perSecond = options.perSecond;
  let lastMs = Number.NEGATIVE_INFINITY;
  let pausedUntilMs = Number.NEGATIVE_INFINITY;
  let last: Promise<void> = Promise.resolve();
  let waiting = 0;
  let changed = new AbortController();

  const dueMs = () => (perSecond === null ? lastMs : lastMs + 1_000 / perSecond);
  const waitMs = () => Math.max(0, dueMs() - nowMs(), pausedUntilMs - nowMs());
  const change = () => {
    changed.abort();
    changed = new AbortController();
  };
  async function turn(signal: AbortSignal): Promise<void> {
    for (let ms = waitMs(); ms > 0 && !signal.aborted; ms = waitMs())
      await sleep(ms, AbortSignal.any([signal, changed.signal]));
    if (!signal.aborted) lastMs = nowMs();
  }

  return {
    async acquire(signal = NEVER): Promise<void> {
      signal.throwIfAborted();
      const { promise: left, resolve } = Promise.withResolvers<void>();
      const leave = () => resolve();
      signal.addEventListener("abort", leave);
      last = last.then(() => turn(signal));
      waiting += 1;
      await Promise.race([last, left]);
      waiting -= 1;
      signal.removeEventListener("abort", leave);
      signal.throwIfAborted();
    },
    tryAcquire() {
      const isFree = waiting === 0 && waitMs() === 0;
      if (isFree) lastMs = nowMs();
      return isFree;
    },
    setRate(rate: number | null) {
      if (rate === perSecond) return;
      perSecond = rate;
      change();
    },
    pause(ms: number) {
      pausedUntilMs = Math.max(pausedUntilMs, nowMs() + ms);
      change();
    },
    perSecond: () => perSecond,
  };
}
