/** Whether one channel goes on; shared by all of its deliveries in flight. */
export type Halt = {
  /** The code under which the channel was stopped, or null. */
  code(): string | null;
  /** Aborted when the channel stops, so that whoever waits for a turn is woken. */
  signal: AbortSignal;
  because(code: string): void;
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
  };
}
