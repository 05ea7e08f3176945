/** Whether one channel goes on; shared by all of its deliveries in flight. */
export type Halt = {
  /** The code under which the channel was stopped, or null. */
  code(): string | null;
  /** Aborted when the channel or the run stops, so that whoever waits for a turn is woken. */
  signal: AbortSignal;
  because(code: string): void;
  /** Wakes the waiting when the run stops as well; the run's own reason is then the one that counts. */
  follow(run: AbortSignal): void;
};

/** A channel that goes on until it is given a reason not to; the first reason stays. */
export function createHalt(): Halt {
  const stopping = new AbortController();
  let code: string | null = null;
  return {
    code: () => code,
    signal: stopping.signal,
    because(given) {
      code ??= given;
      stopping.abort();
    },
    follow(run) {
      run.addEventListener("abort", () => stopping.abort(), { once: true });
    },
  };
}
