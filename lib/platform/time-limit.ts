/** How long something may take; `signal` is the caller's own way to end it sooner. */
export type Limit = { limitMs: number; signal?: AbortSignal | undefined };

/** What ended a limit: its time has passed, or the caller's signal was aborted. */
export type LimitCause = "timeout" | "aborted";

/**
 * A limit while its work runs.
 *
 * Shape: `signal` is aborted when the limit ends, and when the work has ended, to close what it left open, unless that
 *        has called `leaveNothing`; `cause` is null unless the limit has ended.
 */
export type RunningLimit = { signal: AbortSignal; cause(): LimitCause | null; leaveNothing(): void };

/**
 * Runs work that ends itself when its signal is aborted, and waits for its end.
 *
 * Behaviour: timer and listener are gone when this returns. AbortSignal.timeout is enough where no one asks for the
 *            cause and the timer may stay.
 * Units:     milliseconds.
 * Errors:    those of the work.
 */
export async function withTimeLimit<T>(limit: Limit, work: (limit: RunningLimit) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  let cause: LimitCause | null = null;
  let isWhole = false;
  const clear = startLimit(limit, (why) => {
    cause ??= why;
    controller.abort();
  });
  try {
    return await work({
      signal: controller.signal,
      cause: () => cause,
      leaveNothing: () => {
        isWhole = true;
      },
    });
  } finally {
    clear();
    if (!isWhole) controller.abort();
  }
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
export async function unlessLate<T, L>(
  limit: Limit,
  work: (signal: AbortSignal) => Promise<T>,
  late: (cause: LimitCause) => L,
): Promise<T | L> {
  const controller = new AbortController();
  return await firstOf(
    limit,
    () => work(controller.signal),
    (cause) => {
      try {
        return late(cause);
      } finally {
        controller.abort();
      }
    },
  );
}

/** `unlessLate` for work that cannot be ended, which gets no signal: one less to make for each statement. */
export async function waitAtMost<T, L>(
  limit: Limit,
  work: () => Promise<T>,
  late: (cause: LimitCause) => L,
): Promise<T | L> {
  return await firstOf(limit, work, late);
}

async function firstOf<T, L>(
  limit: Limit,
  work: () => Promise<T>,
  late: (cause: LimitCause) => L,
): Promise<T | L> {
  if (limit.signal?.aborted) return late("aborted");
  let clear = () => {};
  try {
    return await new Promise<T | L>((resolve, reject) => {
      clear = startLimit(limit, (cause) => {
        try {
          resolve(late(cause));
        } catch (error) {
          reject(error);
        }
      });
      work().then(resolve, reject);
    });
  } finally {
    clear();
  }
}

/** Calls `onEnd` when the limit ends; the function returned removes timer and listener. */
function startLimit({ limitMs, signal }: Limit, onEnd: (cause: LimitCause) => void): () => void {
  const onAbort = () => onEnd("aborted");
  const timer = setTimeout(onEnd, limitMs, "timeout");
  signal?.addEventListener("abort", onAbort, { once: true });
  if (signal?.aborted) onAbort();
  return () => {
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
  };
}
