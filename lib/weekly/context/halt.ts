/** Why a channel was stopped: a public code, and what is behind it where that is another. */
export type HaltReason = { code: string; cause?: string | undefined };

/** Whether one channel goes on; shared by all of its deliveries in flight. */
export type Halt = {
  /** Why the channel was stopped, or null. */
  reason(): HaltReason | null;
  /** Aborted when the channel or the run stops: what waits for a turn is woken. */
  signal: AbortSignal;
  because(reason: HaltReason): void;
  /** Wakes the waiting when the run stops as well; the run's own reason is then the one that counts. */
  follow(run: AbortSignal): void;
};

/** A channel that goes on until it is given a reason not to; the first reason stays. */
export function createHalt(): Halt {
  const stopping = new AbortController();
  let reason: HaltReason | null = null;
  return {
    reason: () => reason,
    signal: stopping.signal,
    because(given) {
      reason ??= given;
      stopping.abort();
    },
    follow(run) {
      run.addEventListener("abort", () => stopping.abort(), { once: true });
    },
  };
}
