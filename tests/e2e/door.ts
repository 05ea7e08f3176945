import type { Running } from "./opsctl.ts";

/** A door that holds whoever comes to it: a run is stopped there for as long as a test needs. */
export type Door = {
  /** To be awaited in the way of the run. */
  pass(): Promise<void>;
  open(): void;
  /** Waits until the process stands before the door; fails when it ends without having come. */
  reachedBy(process: Running): Promise<void>;
};

/** A closed door. */
export function closedDoor(): Door {
  const reached = Promise.withResolvers<void>();
  const opened = Promise.withResolvers<void>();
  return {
    async pass() {
      reached.resolve();
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
