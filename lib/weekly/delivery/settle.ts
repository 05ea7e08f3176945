import type { Log } from "../../platform/log/log.ts";
import { isOwnerErased } from "../context/erasure.ts";
import type { Stop } from "../context/run-stop.ts";
import type { Failure } from "../context/summary.ts";
import type { Settled } from "../database/deliveries.ts";
import { databaseCode, isConnectionLoss, repeatWhileLost } from "../database/refusals.ts";
import type { Store } from "../database/store.ts";
import { type DeliveryInProgress, SETTLE_MS } from "./attempt.ts";
import type { DeliveryOutcome } from "./channel.ts";
import type { Count } from "./count.ts";
import { shownProviderId } from "./provider-id.ts";

type Facts = Pick<Failure, "deliveryId" | "providerMessageId" | "cause">;

/** What settling needs of its run. */
export type SettleDependencies = {
  store: Pick<Store, "settleDelivery" | "ownerExists">;
  stop: Stop;
  log: Log;
  monotonicMs(): number;
  sleep(ms: number, signal: AbortSignal): Promise<void>;
};

/**
 * Records a delivery's outcome in the ledger and counts it.
 *
 * Behaviour: tried again for as long as the lease lasts, since what the provider did must not be lost. Never throws.
 *            A row that went with its owner is no failure; one that is gone while the owner is there was lost.
 */
export async function settle(
  dependencies: SettleDependencies,
  delivery: DeliveryInProgress,
  outcome: DeliveryOutcome,
  count: Count,
  settleOnce: Store["settleDelivery"] = dependencies.store.settleDelivery,
): Promise<void> {
  const { id, token, channel, leaseLeftMs } = delivery;
  const providerMessageId = outcome.status === "sent" ? outcome.providerMessageId : null;
  const errorCode = outcome.status === "sent" ? null : outcome.code;
  const ids = {
    deliveryId: id,
    ...(providerMessageId === null ? {} : { providerMessageId: shownProviderId(providerMessageId) }),
    cause: outcome.status === "failed" ? outcome.cause : undefined,
  };
  const result = { status: outcome.status, providerMessageId, errorCode };
  let settled: Settled;
  try {
    settled = await repeatWhileLost(() => settleOnce({ id, token }, result), {
      ...dependencies,
      deadlineMs: dependencies.monotonicMs() + Math.max(leaseLeftMs(), SETTLE_MS),
      signal: dependencies.stop.expired,
    });
  } catch (error) {
    const facts = { channel: channel.name, ...ids, result: outcome.status, code: databaseCode(error) };
    dependencies.log.error("The result of a send could not be recorded", facts);
    if (outcome.status !== "sent") count(outcome.status, errorCode, ids);
    else if (isConnectionLoss(error)) count("partial", "delivery_not_recorded", ids);
    else count("unknown", "delivery_claim_lost", ids);
    return;
  }
  if (settled.status === "erased") await countGone(dependencies, delivery, outcome, { ids, count });
  else if (settled.status !== "sent") count(settled.status, errorCode, ids);
  else if (settled.errorCode !== null) count("partial", settled.errorCode, { ...ids, cause: settled.cause });
  else count("sent", null);
}

/** Counts a delivery whose row is gone: what was sent to an owner who was deleted meanwhile was sent. */
async function countGone(
  { store, log }: SettleDependencies,
  { scope, channel }: DeliveryInProgress,
  { status }: DeliveryOutcome,
  { ids, count }: { ids: Facts; count: Count },
): Promise<void> {
  if (await isOwnerErased(store, scope)) {
    count(status === "sent" ? "sent" : "skipped", null);
    return;
  }
  const code = "delivery_row_lost";
  log.error("The ledger has lost a delivery", { channel: channel.name, ...ids, result: status, code });
  count(status === "sent" ? "partial" : status, code, ids);
}
