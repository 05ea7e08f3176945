import type { Running } from "./opsctl.ts";

/** A door that holds whoever comes to it: a run is stopped there for as long as a test needs. */
export type Door = {
  /** To be awaited in the way of the run. */
  pass(): Promise<void>;
  open(): void;
  /** Waits until as many as were expected stand before the door; fails when the process ends before that. */
  reachedBy(process: Running): Promise<void>;
};

/** A closed door at which so many will come to stand. */
export function closedDoor(expected = 1): Door {
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
        throw new Error(`The process ended with ${exitCode} before it came to the door: ${stderr}`);
      });
      // Once the door is reached, how the process ends is for others to judge.
      ended.catch(() => {});
      await Promise.race([reached.promise, ended]);
    },
  };
}
