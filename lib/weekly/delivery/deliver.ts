import { isErasure } from "../context/erasure.ts";
import { MONDAY_ENDED } from "../context/run-stop.ts";
import type { Tally } from "../context/summary.ts";
import type { DeliveryClaim } from "../database/deliveries.ts";
import {
  databaseCode,
  isConnectionLoss,
  isOutsideReportDay,
  REPORT_PATIENCE_MS,
  repeatWhileLost,
} from "../database/refusals.ts";
import type { Payload } from "../payload.ts";
import { type AttemptDependencies, attempt } from "./attempt.ts";
import type { DeliveryChannel } from "./channel.ts";
import type { CompletedReport } from "./completed-report.ts";
import { type Count, countInto } from "./count.ts";
import { type HandOver, settlerOf } from "./hand-over.ts";
import { type MendDependencies, reuseSent } from "./mend-timeline.ts";
import { type SettleDependencies, settle } from "./settle.ts";
import { stopChannelIfNoUse } from "./stop-channel.ts";

/** What a delivery needs of its run. */
export type DeliverDependencies = AttemptDependencies &
  SettleDependencies &
  MendDependencies & { tally: Tally };

/** What this delivery gets of the one before it, and what it has for the one after it. */
export type HandOvers = { before: HandOver; after: HandOver };

/** A report whose messages can be made. */
type DeliverableReport = CompletedReport & { payload: Payload };

/** The id of a delivery that another process holds, so that the run can look again. */
export type BusyDelivery = { busy: string };

type Counting = HandOvers & { count: Count };

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
  handOvers: HandOvers,
): Promise<BusyDelivery | null> {
  const count = countInto(dependencies.tally, channel, report);
  const known = report.known[channel.name];
  const { payload } = report;
  if (channel.leftOut) count("skipped", null);
  else if (known?.status === "sent") await reuseSent(dependencies, known, count);
  else if (known?.status === "unknown") count("unknown", "delivery_unknown", { deliveryId: known.id });
  else if (channel.senderTenantId === null) count("failed", channel.senderMissingCode);
  else if (payload === null) count("failed", "report_payload_unreadable");
  else return await deliverInTurn(dependencies, channel, { ...report, payload }, { count, ...handOvers });
  return null;
}

/** The turn is waited for before the claim: a lease must not run out in a queue. */
async function deliverInTurn(
  dependencies: DeliverDependencies,
  channel: DeliveryChannel,
  report: DeliverableReport,
  counting: Counting,
): Promise<BusyDelivery | null> {
  const { count, before } = counting;
  if (before.claimed !== null) return await deliverClaimed(dependencies, channel, report, counting);
  const release = await turnOf(channel).catch(() => null);
  try {
    // When the answer to a claim was lost, there may be one: asked again, it is settled, and holds up no further run.
    const mayBeClaimed = before.askedAtMs !== null;
    const stopped = mayBeClaimed ? null : dependencies.stop.reason();
    const channelStopped = mayBeClaimed ? null : channel.stop.reason();
    if (stopped) count("skipped", stopped.code);
    else if (channelStopped) count("skipped", channelStopped.code, { cause: channelStopped.cause });
    else return await deliverOnce(dependencies, channel, report, counting);
    return null;
  } finally {
    release?.();
  }
}

/** Room for one more doubt, which is given back at the end, then a start within the rate. */
async function turnOf({ doubts, rate, stop }: DeliveryChannel): Promise<() => void> {
  const leave = await doubts.enter(stop.signal);
  try {
    await rate.acquire(stop.signal);
    return leave;
  } catch (error) {
    leave();
    throw error;
  }
}

/** A delivery that was claimed with the confirmation of the one before it. */
async function deliverClaimed(
  dependencies: DeliverDependencies,
  channel: DeliveryChannel,
  report: DeliverableReport,
  counting: Counting,
): Promise<BusyDelivery | null> {
  const { claim, release } = counting.before.claimed!;
  try {
    return await useClaim(dependencies, channel, report, { ...counting, claim });
  } finally {
    release();
  }
}

/** Claims the delivery; what the claim permits is attempted once and settled. */
async function deliverOnce(
  dependencies: DeliverDependencies,
  channel: DeliveryChannel,
  report: DeliverableReport,
  counting: Counting,
): Promise<BusyDelivery | null> {
  const { count, before } = counting;
  const askedAtMs = dependencies.monotonicMs();
  before.askedAtMs ??= askedAtMs;
  let claim: DeliveryClaim;
  try {
    const claimOnce = () =>
      channel.claim(report.id, report.scope, channel.senderTenantId!, before.claimToken);
    claim = await repeatWhileLost(claimOnce, {
      ...dependencies,
      deadlineMs: askedAtMs + REPORT_PATIENCE_MS,
      signal: dependencies.stop.signal,
    });
  } catch (error) {
    if (await isErasure(dependencies.store, report.scope, error)) count("skipped", null);
    else countUnclaimed(dependencies, error, { channel: channel.name, reportId: report.id }, count);
    return null;
  }
  return await useClaim(dependencies, channel, report, { ...counting, claim });
}

/** What the claim permits is attempted once and settled; its lease counts from when it was first asked for. */
async function useClaim(
  dependencies: DeliverDependencies,
  channel: DeliveryChannel,
  report: DeliverableReport,
  { claim, count, before, after }: Counting & { claim: DeliveryClaim },
): Promise<BusyDelivery | null> {
  const { deliveryId } = claim;
  if (claim.outcome === "sent") count("reused", null);
  else if (claim.outcome === "unknown") count("unknown", "delivery_unknown", { deliveryId });
  else if (claim.outcome === "busy") return { busy: deliveryId };
  else {
    const leaseLeftMs = () => before.askedAtMs! + LEASE_MS - dependencies.monotonicMs();
    const { scope, payload } = report;
    const delivery = { id: deliveryId, token: claim.token, channel, claim, scope, payload, leaseLeftMs };
    const outcome = await attempt(dependencies, delivery);
    stopChannelIfNoUse(dependencies, channel, outcome);
    await settle(dependencies, delivery, outcome, count, settlerOf(dependencies, after, report));
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
  const stopped = stop.reason();
  if (stopped !== null && isConnectionLoss(error)) {
    count("skipped", stopped.code);
    return;
  }
  log.error("A delivery could not be claimed", { ...ids, code: databaseCode(error) });
  count("failed", "delivery_claim_failed");
}
