import type { Run } from "./run.ts";
import { RUN_INTERRUPTED } from "./run-stop.ts";

/** How long calls of peers in flight may go on after a signal. */
const GRACE_MS = 18_000;
/** How long recording the outcomes may take after that; the sum is less than the half minute that hosts allow. */
const RECORD_MS = 6_000;

/**
 * On a signal: stops new work at once, ends calls that are still in flight after a grace, then waits for the database.
 *
 * Shape:     a function that stops listening for the signal.
 * Behaviour: a call that is ended is ambiguous, so its delivery becomes `unknown`. What the database has not recorded
 *            by the end stays dispatched, and the next run makes it `unknown`.
 */
export function stopOnInterrupt(run: Pick<Run, "dependencies" | "stop">): () => void {
  const { interrupt, log, sleep } = run.dependencies;
  const ended = new AbortController();
  const end = async () => {
    await sleep(GRACE_MS, ended.signal);
    run.stop.giveUp();
    await sleep(RECORD_MS, ended.signal);
    log.warn("The database has not answered until the end: what it has not recorded is left as it is", {
      code: RUN_INTERRUPTED.code,
    });
    run.stop.expire();
  };
  const stop = () => {
    log.warn("A signal asked the run to end: finishing what is in flight", { code: RUN_INTERRUPTED.code });
    run.stop.because(RUN_INTERRUPTED);
    end().catch(() => {});
  };
  if (interrupt.aborted) stop();
  else interrupt.addEventListener("abort", stop, { once: true });
  return () => {
    interrupt.removeEventListener("abort", stop);
    ended.abort();
  };
}
