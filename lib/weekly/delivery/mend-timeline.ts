import type { Log } from "../../platform/log/log.ts";
import type { Lack } from "../database/deliveries.ts";
import { databaseCode } from "../database/refusals.ts";
import type { Store } from "../database/store.ts";
import type { Count } from "./count.ts";

/** What mending needs of its run. */
export type MendDependencies = { store: Pick<Store, "repairDelivery">; log: Log };

/**
 * Counts a delivery that was sent before; the timeline entry that it lacks is written first.
 *
 * Behaviour: never throws. An entry that still cannot be written leaves the delivery partial.
 */
export async function reuseSent(
  dependencies: MendDependencies,
  { id, errorCode }: { id: string; errorCode: string | null },
  count: Count,
): Promise<void> {
  const lack = errorCode === null ? { errorCode } : await mendTimeline(dependencies, id, errorCode);
  if (lack.errorCode === null) count("reused", null);
  else count("partial", lack.errorCode, { deliveryId: id, cause: lack.cause });
}

/** What a sent delivery still lacks; without a code when it is whole now. */
async function mendTimeline({ store, log }: MendDependencies, id: string, errorCode: string): Promise<Lack> {
  try {
    return await store.repairDelivery(id);
  } catch (error) {
    const facts = { deliveryId: id, code: databaseCode(error) };
    log.error("A missing timeline entry could not be written", facts);
    return { errorCode };
  }
}
