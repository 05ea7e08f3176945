import type { Running } from "./opsctl.ts";

/** Holds every caller of `pass` until it is opened, so that a test can look at a run in between. */
export type Barrier = {
  /** Awaited by the run; resolves when the barrier is opened. */
  pass(): Promise<void>;
  open(): void;
  /** Resolves when the expected number of callers wait; rejects when the process ends before that. */
  reachedBy(process: Running): Promise<void>;
};

/** A barrier that is reached when `expected` callers wait at it. */
export function closedBarrier(expected = 1): Barrier {
  const reached = Promise.withResolvers<void>();
  let waiting = 0;
  const opened = Promise.withResolvers<void>();
  return {
    async pass() {
      waiting += 1;
      if (waiting === expected) reached.resolve();
      await opened.promise;
    },
    open: opened.resolve,
    async reachedBy(process) {
      const ended = process.ended.then(({ exitCode, stderr }) => {
        throw new Error(`The process ended with ${exitCode} before it came to the barrier: ${stderr}`);
      });
      // Once the barrier is reached, the end of the process is no failure here.
      ended.catch(() => {});
      await Promise.race([reached.promise, ended]);
    },
  };
}
