/** A clock and a sleep in which waiting takes no time. */
export function skippingTime() {
  let skippedMs = 0;
  return {
    monotonicMs: () => performance.now() + skippedMs,
    sleep: async (ms: number, signal?: AbortSignal) => {
      signal?.throwIfAborted();
      await new Promise((resolve) => setImmediate(resolve));
      skippedMs += ms;
    },
  };
}
