import type { Run } from "./run-state.ts";
import { RUN_INTERRUPTED } from "./stop.ts";

/** How long work in flight may go on after a signal; settling what was sent comes on top. */
const GRACE_MS = 20_000;

/**
 * A signal stops new work at once, and ends what is still in flight after a grace.
 *
 * Shape: answers how to stop listening; a call that is ended is ambiguous, so its delivery becomes `unknown`.
 */
export function stopOnInterrupt(run: Pick<Run, "world" | "stop">): () => void {
  const { interrupt, log, sleep } = run.world;
  const ended = new AbortController();
  const stop = () => {
    log.warn("A signal asked the run to end: finishing what is in flight", { code: RUN_INTERRUPTED.code });
    run.stop.because(RUN_INTERRUPTED);
    sleep(GRACE_MS, ended.signal).then(
      () => run.stop.giveUp(),
      () => {},
    );
  };
  if (interrupt.aborted) stop();
  else interrupt.addEventListener("abort", stop, { once: true });
  return () => {
    interrupt.removeEventListener("abort", stop);
    ended.abort();
  };
}
