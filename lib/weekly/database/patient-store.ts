import { type Repetition, repeatWhileLost } from "./refusals.ts";
import type { Store } from "./store.ts";

/**
 * The store whose calls without a lease of their own wait for a database that is away for a moment.
 *
 * Behaviour: the steps that hold a lease, and those of the whole run, repeat their calls themselves, for as long as
 *            fits.
 */
export function patientStore(
  store: Store,
  { patienceMs, ...repetition }: Omit<Repetition, "deadlineMs"> & { patienceMs: number },
): Store {
  const patient =
    <A extends unknown[], R>(call: (...args: A) => Promise<R>) =>
    (...args: A): Promise<R> =>
      repeatWhileLost(() => call(...args), {
        ...repetition,
        deadlineMs: repetition.monotonicMs() + patienceMs,
      });
  return {
    ...store,
    ownerExists: patient(store.ownerExists),
    readDelivery: patient(store.readDelivery),
    repairDelivery: patient(store.repairDelivery),
    readSenders: patient(store.readSenders),
    listRecipients: patient(store.listRecipients),
  };
}
