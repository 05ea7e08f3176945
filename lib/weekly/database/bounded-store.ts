import { noAnswer } from "../../platform/database/error.ts";
import { withTimeout } from "../../platform/timeout.ts";
import type { Store } from "./store.ts";

/**
 * How long to wait for one answer of the database, and the signal that ends every wait at once.
 *
 * Shape: `onSilence` is told when no answer came in time.
 */
export type AnswerLimit = { limitMs: number; signal: AbortSignal; onSilence?: (() => void) | undefined };

/**
 * The database's answer, if it comes within the limit; a call that is given up may still take effect.
 *
 * Errors: STATEMENT_TIMEOUT, which counts as the database being away: the same call may be repeated.
 */
export async function within<T>(ask: () => Promise<T>, limit: AnswerLimit): Promise<T> {
  return await withTimeout(limit, ask, (cause) => {
    if (cause === "timeout") limit.onSilence?.();
    throw noAnswer();
  });
}

/**
 * The store with a time limit on every call: a lock that another session holds, or a network that loses packets, gives
 * no error by itself.
 *
 * Behaviour: the drain has no limit of its own; taking its lock, each `confirm` and the end of the lock's transaction
 *            have one. A lock that comes too late is released without a drain.
 * Errors:    those of the store, and STATEMENT_TIMEOUT.
 */
export function boundedStore(store: Store, limit: AnswerLimit): Store {
  const bound =
    <A extends unknown[], R>(step: (...args: A) => Promise<R>) =>
    (...args: A): Promise<R> =>
      within(() => step(...args), limit);
  return {
    now: bound(store.now),
    lastWeek: bound(store.lastWeek),
    isWritable: bound(store.isWritable),
    countSentWhatsapp: bound(store.countSentWhatsapp),
    countScopes: bound(store.countScopes),
    listScopes: bound(store.listScopes),
    ownerExists: bound(store.ownerExists),
    listNewScopes: bound(store.listNewScopes),
    claimReport: bound(store.claimReport),
    listAnalysedConnections: bound(store.listAnalysedConnections),
    readEvidence: bound(store.readEvidence),
    persistReport: bound(store.persistReport),
    persistAndClaimWhatsapp: bound(store.persistAndClaimWhatsapp),
    failReport: bound(store.failReport),
    claimWhatsapp: bound(store.claimWhatsapp),
    claimEmail: bound(store.claimEmail),
    dispatchDelivery: bound(store.dispatchDelivery),
    settleDelivery: bound(store.settleDelivery),
    settleAndClaimEmail: bound(store.settleAndClaimEmail),
    readDelivery: bound(store.readDelivery),
    repairDelivery: bound(store.repairDelivery),
    weekState: bound(store.weekState),
    readSenders: bound(store.readSenders),
    listRecipients: bound(store.listRecipients),
    withDrainLock: (drain) => drainWithin(store, drain, limit),
  };
}

async function drainWithin<T>(
  store: Store,
  drain: (confirm: () => Promise<void>) => Promise<T>,
  limit: AnswerLimit,
): Promise<T | "busy"> {
  const locked = Promise.withResolvers<void>();
  const drained = Promise.withResolvers<void>();
  let isTooLate = false;
  const holding = store.withDrainLock(async (confirm) => {
    if (isTooLate) throw noAnswer();
    locked.resolve();
    try {
      return await drain(() => within(confirm, limit));
    } finally {
      drained.resolve();
    }
  });
  try {
    await within(() => Promise.race([locked.promise, holding]), limit);
  } catch (error) {
    isTooLate = true;
    holding.catch(() => {});
    throw error;
  }
  await Promise.race([drained.promise, holding]);
  return await within(() => holding, limit);
}
