import { isErasure } from "../context/erasure.ts";
import { MONDAY_ENDED } from "../context/run-stop.ts";
import type { Tally } from "../context/summary.ts";
import type { DeliveryClaim } from "../database/deliveries.ts";
import {
  databaseCode,
  isOutsideReportDay,
  REPORT_PATIENCE_MS,
  repeatWhileLost,
} from "../database/refusals.ts";
import type { Payload } from "../payload.ts";
import type { CompletedReport } from "../report/complete.ts";
import { type AttemptDependencies, attempt } from "./attempt.ts";
import type { DeliveryChannel } from "./channel.ts";
import { type Count, countInto } from "./count.ts";
import { type MendDependencies, reuseSent } from "./mend-timeline.ts";
import { type SettleDependencies, settle } from "./settle.ts";
import { stopChannelIfNoUse } from "./stop-channel.ts";

/** What a delivery needs of its run. */
export type DeliverDependencies = AttemptDependencies &
  SettleDependencies &
  MendDependencies & { tally: Tally };

/** A report whose messages can be made. */
type DeliverableReport = CompletedReport & { payload: Payload };

/** The id of a delivery that another process holds, so that the run can look again. */
export type BusyDelivery = { busy: string };

const LEASE_MS = 5 * 60_000;

/**
 * Steps 7 to 12 for one channel of one report: claim, address, dispatch, send, settle.
 *
 * Shape:     null when the delivery has been counted here.
 * Behaviour: never throws for one delivery: a failure of one channel leaves the other alone.
 * Source:    weekly report document, delivery row; nothing is ever sent twice, an `unknown` is never repeated.
 */
export async function deliver(
  dependencies: DeliverDependencies,
  channel: DeliveryChannel,
  report: CompletedReport,
): Promise<BusyDelivery | null> {
  const count = countInto(dependencies.tally, channel, report);
  const known = report.known[channel.name];
  const { payload } = report;
  if (channel.leftOut) count("skipped", null);
  else if (known?.status === "sent") await reuseSent(dependencies, known, count);
  else if (known?.status === "unknown") count("unknown", "delivery_unknown", { deliveryId: known.id });
  else if (channel.senderTenantId === null) count("failed", channel.senderMissingCode);
  else if (payload === null) count("failed", "report_payload_unreadable");
  else return await deliverInTurn(dependencies, channel, { ...report, payload }, count);
  return null;
}

/** The turn is waited for before the claim: a lease must not run out in a queue. */
async function deliverInTurn(
  dependencies: DeliverDependencies,
  channel: DeliveryChannel,
  report: DeliverableReport,
  count: Count,
): Promise<BusyDelivery | null> {
  const release = await channel.pace.turn(channel.stop.signal).catch(() => null);
  try {
    const stopped = dependencies.stop.reason();
    const channelStopped = channel.stop.reason();
    if (stopped) count("skipped", stopped.code);
    else if (channelStopped) count("skipped", channelStopped.code, { cause: channelStopped.cause });
    else return await deliverOnce(dependencies, channel, report, count);
    return null;
  } finally {
    release?.();
  }
}

/** Claims the delivery; what the claim permits is attempted once and settled. */
async function deliverOnce(
  dependencies: DeliverDependencies,
  channel: DeliveryChannel,
  report: DeliverableReport,
  count: Count,
): Promise<BusyDelivery | null> {
  const claimedAtMs = dependencies.monotonicMs();
  const claimToken = crypto.randomUUID();
  let claim: DeliveryClaim;
  try {
    const claimOnce = () => channel.claim(report.id, report.scope, channel.senderTenantId!, claimToken);
    claim = await repeatWhileLost(claimOnce, {
      ...dependencies,
      deadlineMs: claimedAtMs + REPORT_PATIENCE_MS,
      signal: dependencies.stop.signal,
    });
  } catch (error) {
    if (await isErasure(dependencies.store, report.scope, error)) count("skipped", null);
    else countUnclaimed(dependencies, error, { channel: channel.name, reportId: report.id }, count);
    return null;
  }
  const { deliveryId, token } = claim;
  if (claim.outcome === "sent") count("reused", null);
  else if (claim.outcome === "unknown") count("unknown", "delivery_unknown", { deliveryId });
  else if (claim.outcome === "busy" || token === null) return { busy: deliveryId };
  else {
    const leaseLeftMs = () => claimedAtMs + LEASE_MS - dependencies.monotonicMs();
    const { scope, payload } = report;
    const delivery = { id: deliveryId, token, channel, claim, scope, payload, leaseLeftMs };
    const outcome = await attempt(dependencies, delivery);
    stopChannelIfNoUse(dependencies, channel, outcome);
    await settle(dependencies, delivery, outcome, count);
  }
  return null;
}

function countUnclaimed(
  { stop, log }: DeliverDependencies,
  error: unknown,
  ids: { channel: string; reportId: string },
  count: Count,
): void {
  if (isOutsideReportDay(error)) {
    stop.because(MONDAY_ENDED);
    count("skipped", MONDAY_ENDED.code);
    return;
  }
  log.error("A delivery could not be claimed", { ...ids, code: databaseCode(error) });
  count("failed", "delivery_claim_failed");
}
