import { setTimeout as delay } from "node:timers/promises";

/** How long something may take; `signal` is the caller's own way to end it sooner. */
export type Limit = { limitMs: number; signal?: AbortSignal | undefined };

/** What ended a limit: its time has passed, or the caller's signal was aborted. */
export type LimitCause = "timeout" | "aborted";

/** A limit that runs: `signal` is aborted when it ends, `cause` is null until then, `clear` stops it. */
export type RunningLimit = { signal: AbortSignal; cause(): LimitCause | null; clear(): void };

/** Starts a limit, for work that ends itself when the signal is aborted; `clear` has to be called behind the work. */
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
 * first; what the work returns or throws after that is dropped.
 *
 * Errors: those of the work, and what `late` throws.
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
