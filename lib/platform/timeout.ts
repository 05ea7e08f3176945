import { setTimeout as delay } from "node:timers/promises";

/** How long something may take; `signal` is the caller's own way to end it sooner. */
export type Limit = { limitMs: number; signal?: AbortSignal | undefined };

/** What ended a limit: its time has passed, or the caller's signal was aborted. */
export type LimitCause = "timeout" | "aborted";

/**
 * A limit that runs.
 *
 * Shape: `signal` is aborted when the limit ends; `cause` is null until then; `clear` removes timer and listener, and
 *        has to be called when the work has ended.
 */
export type RunningLimit = { signal: AbortSignal; cause(): LimitCause | null; clear(): void };

/**
 * Starts a limit, for work that ends itself when the signal is aborted.
 *
 * Behaviour: AbortSignal.timeout is enough where no one asks for the cause and the timer may stay.
 * Units:     milliseconds.
 */
export function startLimit({ limitMs, signal }: Limit): RunningLimit {
  const controller = new AbortController();
  let cause: LimitCause | null = null;
  const end = (why: LimitCause) => {
    clear();
    cause = why;
    controller.abort();
  };
  const onAbort = () => end("aborted");
  const timer = setTimeout(end, limitMs, "timeout");
  const clear = () => {
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
  };
  signal?.addEventListener("abort", onAbort);
  if (signal?.aborted) onAbort();
  return { signal: controller.signal, cause: () => cause, clear };
}

/**
 * Waits for work no longer than its limit: returns what the work returns, or what `late` returns when the limit ends
 * first.
 *
 * Behaviour: at the limit `late` is called, then the work's signal is aborted; what the work returns or throws after
 *            that is dropped. Work whose caller has aborted already is not begun.
 * Units:     milliseconds.
 * Errors:    those of the work, and what `late` throws.
 */
export async function withTimeout<T, L>(
  limit: Limit,
  work: (signal: AbortSignal) => Promise<T>,
  late: (cause: LimitCause) => L,
): Promise<T | L> {
  if (limit.signal?.aborted) return late("aborted");
  const { signal, cause, clear } = startLimit(limit);
  const { promise: over, resolve } = Promise.withResolvers<void>();
  signal.addEventListener("abort", () => resolve());
  try {
    return await Promise.race([work(signal), over.then(() => late(cause()!))]);
  } finally {
    clear();
  }
}

/** Waits; ends sooner, and without an error, when the signal is aborted. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => {});
}
