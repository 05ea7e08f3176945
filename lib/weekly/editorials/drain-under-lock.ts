import type { Run } from "../context/run.ts";
import type { EditorialSummary } from "../context/summary.ts";
import { isConnectionLoss, RUN_PATIENCE_MS, repeatWhileLost } from "../database/refusals.ts";

/** How long the session that had the lock may still hold it after this process has lost it. */
const GHOST_MS = 2_000;

const LOCK_TAKEN = new Error("another session has the drain's lock, which this run had before");

/**
 * Drains under the lock, and takes the lock again when the database was away in between.
 *
 * Errors: the database's own once it has been away for too long; LOCK_TAKEN when another process has the lock by then.
 */
export async function drainUnderLock(
  { dependencies, stop }: Run,
  drain: (confirm: () => Promise<void>) => Promise<EditorialSummary>,
): Promise<EditorialSummary | "busy"> {
  const { store, monotonicMs } = dependencies;
  let drained: Promise<EditorialSummary> | null = null;
  let lockedMs = monotonicMs();
  const lockAndDrain = async () => {
    // A call that was in flight when the lock was lost goes on until its peer has answered.
    await drained?.catch(() => {});
    const result = await store.withDrainLock((confirm) => {
      drained = drain(confirm).finally(() => {
        lockedMs = monotonicMs();
      });
      return drained;
    });
    if (result === "busy" && drained !== null) throw LOCK_TAKEN;
    return result;
  };
  return await repeatWhileLost(lockAndDrain, {
    ...dependencies,
    signal: stop.signal,
    get deadlineMs() {
      return lockedMs + RUN_PATIENCE_MS;
    },
    isPassing: (error) =>
      error === LOCK_TAKEN ? monotonicMs() < lockedMs + GHOST_MS : isConnectionLoss(error),
  });
}
