import type { Log } from "../../platform/log/log.ts";
import type { Pace } from "../../platform/rate/pace.ts";
import type { SendOutcome } from "../../providers/send-outcome.ts";
import type { ChannelStop, ChannelStopReason } from "../context/channel-stop.ts";
import { MONDAY_ENDED, type Stop } from "../context/stop.ts";
import type { DeliveryCounts, Failure, Tally } from "../context/summary.ts";
import type { DeliveryChannelName, DeliveryClaim, Settled } from "../database/deliveries.ts";
import type { Scope } from "../database/recipients.ts";
import { databaseCode, isConnectionLoss, isOutsideReportDay, repeatWhileLost } from "../database/refusals.ts";
import type { Store } from "../database/store.ts";
import type { Payload } from "../payload.ts";

/** A delivery that can be addressed, or the code of what is missing. */
export type Prepared =
  | { status: "ready"; maskedHint: string; send(signal: AbortSignal): Promise<SendOutcome> }
  | ({ status: "failed"; code: string } & Background);

/**
 * What belongs to a failure of what was not sent: `stopsChannel` when it concerns every delivery, `timedOut` when the
 * provider was asked and said nothing, `throttled` when it asked for patience to the last, `cause` what is behind its code
 * where several things lead to that.
 */
type Background = {
  stopsChannel?: boolean | undefined;
  timedOut?: boolean | undefined;
  throttled?: boolean | undefined;
  cause?: string | undefined;
};

/** One way of reaching an owner: who sends, how it is claimed, how it is addressed. */
export type DeliveryChannel = {
  name: DeliveryChannelName;
  /** Left out by a flag: nothing is claimed, nothing counts as a failure. */
  leftOut: boolean;
  senderTenantId: string | null;
  senderMissingCode: "sender_tenant_missing" | "email_sender_tenant_missing";
  /** Stopped when the provider refuses the whole channel, or does not answer: no further sends in this run. */
  stop: ChannelStop;
  /** How many deliveries in a row ended in doubt, with nothing said in time before they began, or throttled to the last. */
  fruitlessInARow: number;
  /** Longest time that one send can take. */
  sendTimeoutMs: number;
  pace: Pace;
  claim(reportId: string, scope: Scope, senderTenantId: string): Promise<DeliveryClaim>;
  prepare(claim: DeliveryClaim, payload: Payload, signal: AbortSignal): Promise<Prepared>;
};

/** What a delivery needs of its run. */
export type DeliverDependencies = {
  store: Pick<Store, "dispatchDelivery" | "settleDelivery">;
  tally: Tally;
  stop: Stop;
  log: Log;
  monotonicMs(): number;
  sleep(ms: number, signal: AbortSignal): Promise<void>;
};

/** A completed report, ready to be sent. */
export type CompletedReport = { id: string; scope: Scope; payload: Payload };

const LEASE_MS = 5 * 60_000;
const THROTTLED_REPEATS = 3;
/** A provider that asks for more patience than this gets no further message in this run. */
const LONGEST_PATIENCE_MS = 30 * 60_000;
/**
 * Each doubt is a delivery that a person has to look up, each silence costs the whole time limit, and each throttled
 * delivery all of its repeats, for which the owner's other channel waits too: there must not be thousands of them.
 */
const FRUITLESS_BEFORE_STOP = 100;
const CLAIM_MS = 20_000;
/** Codes of messages that were sent and of which the ledger knows nothing: their ids have to be in the summary. */
const UNRECORDED: ReadonlySet<string> = new Set(["delivery_not_recorded", "delivery_claim_lost"]);
/** What settling may take after the last send of a claim. */
const SETTLE_MS = 10_000;

/**
 * Steps 7 to 12 for one channel of one report: claim, address, dispatch, send, settle.
 *
 * Shape:  answers the delivery's id when another process holds it, so that the run can look again; everything else
 *         is counted here. Never throws for one delivery: a failure of one channel leaves the other alone.
 * Source: weekly report document, delivery row; nothing is ever sent twice, an `unknown` is never repeated.
 */
export async function deliver(
  dependencies: DeliverDependencies,
  channel: DeliveryChannel,
  report: CompletedReport,
  known: string | undefined,
): Promise<{ busy: string } | null> {
  const { tally, stop } = dependencies;
  const count: Count = (counter, code, facts) => {
    tally[channel.name][counter] += 1;
    if (code === null) return;
    const keep = UNRECORDED.has(code) ? tally.failFirst : tally.fail;
    keep({ step: channel.name, code, tenantId: report.scope.tenantId, reportId: report.id, ...facts });
  };
  const counted = (...result: Parameters<Count>): null => {
    count(...result);
    return null;
  };

  if (channel.leftOut) return counted("skipped", null);
  if (known === "sent") return counted("reused", null);
  if (channel.senderTenantId === null)
    return known === "unknown"
      ? counted("unknown", "delivery_unknown")
      : counted("failed", channel.senderMissingCode);
  if (known === "unknown") return await deliverOnce(dependencies, channel, report, count);

  // Waited for before the claim: a lease must not run out in a queue.
  const release = await channel.pace.turn(channel.stop.signal).catch(() => null);
  try {
    const stopped = stop.reason();
    if (stopped) return counted("skipped", stopped.code);
    const channelStopped = channel.stop.reason();
    if (channelStopped !== null)
      return counted("skipped", channelStopped.code, { cause: channelStopped.cause });
    return await deliverOnce(dependencies, channel, report, count);
  } finally {
    release?.();
  }
}

type Count = (
  counter: keyof DeliveryCounts,
  code: string | null,
  facts?: Pick<Failure, "deliveryId" | "providerMessageId" | "cause">,
) => void;

async function deliverOnce(
  dependencies: DeliverDependencies,
  channel: DeliveryChannel,
  report: CompletedReport,
  count: Count,
): Promise<{ busy: string } | null> {
  const claimedAtMs = dependencies.monotonicMs();
  let claim: DeliveryClaim;
  try {
    // Repeated after a lost answer, a claim that did take place is found busy: nothing is sent twice.
    claim = await repeatWhileLost(() => channel.claim(report.id, report.scope, channel.senderTenantId!), {
      deadlineMs: claimedAtMs + CLAIM_MS,
      ...dependencies,
      signal: dependencies.stop.signal,
    });
  } catch (error) {
    if (isOutsideReportDay(error)) {
      dependencies.stop.because(MONDAY_ENDED);
      count("skipped", MONDAY_ENDED.code);
      return null;
    }
    const ids = { channel: channel.name, reportId: report.id };
    dependencies.log.error("A delivery could not be claimed", { ...ids, code: databaseCode(error) });
    count("failed", "delivery_claim_failed");
    return null;
  }
  const { deliveryId, token } = claim;
  if (claim.outcome === "sent") count("reused", null);
  else if (claim.outcome === "unknown") count("unknown", "delivery_unknown", { deliveryId });
  else if (claim.outcome === "busy" || token === null) return { busy: deliveryId };
  else {
    const leaseLeftMs = () => claimedAtMs + LEASE_MS - dependencies.monotonicMs();
    const delivery = { id: deliveryId, token };
    const outcome = await attempt(dependencies, channel, report, claim, delivery, leaseLeftMs);
    stopChannelIfNoUse(dependencies, channel, outcome);
    await settle(dependencies, channel, delivery, outcome, leaseLeftMs, count);
  }
  return null;
}

/** A channel that refuses us, or brings nothing again and again, gets no further message: the next run sends the rest. */
function stopChannelIfNoUse(
  { tally, log }: DeliverDependencies,
  channel: DeliveryChannel,
  outcome: FinalOutcome,
): void {
  const passing = passingFaultIn(outcome);
  if (passing !== null) tally.fail({ step: channel.name, ...passing });
  const reason = refusalIn(outcome) ?? fruitlessFor(channel, outcome);
  if (channel.stop.reason() !== null || reason === null) return;
  channel.stop.because(reason);
  // What a failed delivery met is in the summary already, with that delivery.
  if (outcome.status !== "failed" || outcome.code !== reason.code)
    tally.failFirst({ step: channel.name, ...reason });
  log.error("A channel was stopped for the rest of the run", { channel: channel.name, ...reason });
}

/** Counts deliveries that brought nothing; the reason to stop when there were too many in a row, else null. */
function fruitlessFor(channel: DeliveryChannel, outcome: FinalOutcome): ChannelStopReason | null {
  const { status } = outcome;
  const throttled = status === "failed" && outcome.throttled;
  const fruitless = status === "unknown" || throttled || (status === "failed" && outcome.timedOut);
  channel.fruitlessInARow = fruitless ? channel.fruitlessInARow + 1 : 0;
  if (channel.fruitlessInARow < FRUITLESS_BEFORE_STOP) return null;
  return { code: throttled ? outcome.code : `${channel.name}_not_answering` };
}

/** What stops nothing: each delivery looks at its sender before it begins, and a lost moment must not cost the whole run. */
function passingFaultIn(outcome: FinalOutcome): ChannelStopReason | null {
  if (outcome.status !== "unknown" || !outcome.channel?.isPassing) return null;
  const { code, cause } = outcome.channel;
  return { code, cause };
}

/** What an outcome says against the whole channel: a refusal, or what was learnt after a send that stays in doubt. */
function refusalIn(outcome: FinalOutcome): ChannelStopReason | null {
  if (outcome.status === "unknown") return outcome.channel?.isPassing ? null : (outcome.channel ?? null);
  if (outcome.status !== "failed" || !outcome.stopsChannel) return null;
  return { code: outcome.code, cause: outcome.cause };
}

/** Records the outcome for as long as the lease lasts: the truth about the provider must not be lost. */
async function settle(
  dependencies: DeliverDependencies,
  channel: DeliveryChannel,
  delivery: { id: string; token: string },
  outcome: FinalOutcome,
  leaseLeftMs: () => number,
  count: Count,
): Promise<void> {
  const providerMessageId = outcome.status === "sent" ? outcome.providerMessageId : null;
  const errorCode = outcome.status === "sent" ? null : outcome.code;
  const ids = {
    deliveryId: delivery.id,
    ...(providerMessageId === null ? {} : { providerMessageId }),
    cause: outcome.status === "failed" ? outcome.cause : undefined,
  };
  const result = { status: outcome.status, providerMessageId, errorCode };
  let settled: Settled;
  try {
    settled = await repeatWhileLost(() => dependencies.store.settleDelivery(delivery, result), {
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
  if (settled.status !== "sent") count(settled.status, errorCode, ids);
  else if (settled.errorCode !== null) count("partial", settled.errorCode, ids);
  else count("sent", null);
}

/** What a delivery came to, with what is known of a failure before the send. */
type FinalOutcome = Exclude<SendOutcome, { status: "throttled" }> & Background;

/** Addresses the delivery, passes the point of no return and sends; only a throttled answer is repeated. */
async function attempt(
  dependencies: DeliverDependencies,
  channel: DeliveryChannel,
  report: CompletedReport,
  claim: DeliveryClaim,
  delivery: { id: string; token: string },
  leaseLeftMs: () => number,
): Promise<FinalOutcome> {
  const { stop } = dependencies;
  const ids = { channel: channel.name, deliveryId: delivery.id };
  const failed = (
    code: string,
    { stopsChannel = false, timedOut, throttled, cause }: Background = {},
  ): FinalOutcome => ({ status: "failed", code, stopsChannel, timedOut, throttled, cause });
  const prepared = await channel
    .prepare(claim, report.payload, stop.abandon)
    .catch((error: unknown): Prepared => {
      dependencies.log.error("A message could not be made", { ...ids, cause: nameOf(error) });
      return { status: "failed", code: "delivery_prepare_failed" };
    });
  if (prepared.status !== "ready") return failed(prepared.code, prepared);

  let release: (() => void) | null = null;
  try {
    for (let repeats = 0; ; repeats += 1) {
      const stopped: ChannelStopReason | null = stop.reason() ?? channel.stop.reason();
      if (stopped !== null) return failed(stopped.code, { cause: stopped.cause });
      const undispatched = await dispatch(dependencies, channel, delivery, prepared.maskedHint);
      if (undispatched !== null) return failed(undispatched);
      const outcome = await prepared.send(stop.abandon).catch((error: unknown): SendOutcome => {
        dependencies.log.error("A send broke off", { ...ids, cause: nameOf(error) });
        return { status: "unknown", code: "delivery_send_broke_off" };
      });
      if (outcome.status !== "throttled") return outcome;
      release?.();
      const patienceMs = leaseLeftMs() - channel.sendTimeoutMs - SETTLE_MS;
      if (outcome.retryAfterMs > LONGEST_PATIENCE_MS) return failed(outcome.code, { stopsChannel: true });
      if (repeats === THROTTLED_REPEATS || patienceMs <= outcome.retryAfterMs)
        return failed(outcome.code, { throttled: true });
      const { signal } = channel.stop;
      await dependencies.sleep(outcome.retryAfterMs, signal).catch(() => {});
      // Its place in the queue again: a repeat beside the pace would be one send too many, and the next 429.
      const patience = AbortSignal.timeout(patienceMs - outcome.retryAfterMs);
      release = await channel.pace.turn(AbortSignal.any([signal, patience])).catch(() => null);
      if (release === null && patience.aborted) return failed(outcome.code, { throttled: true });
    }
  } finally {
    release?.();
  }
}

/** Passes the point of no return; answers the code of why not, and then nothing may be sent. */
async function dispatch(
  dependencies: DeliverDependencies,
  channel: DeliveryChannel,
  delivery: { id: string; token: string },
  maskedHint: string,
): Promise<string | null> {
  const { store, stop, log } = dependencies;
  try {
    await repeatWhileLost(() => store.dispatchDelivery(delivery, channel.senderTenantId!, maskedHint), {
      ...dependencies,
      deadlineMs: dependencies.monotonicMs() + SETTLE_MS,
      signal: stop.signal,
    });
    return null;
  } catch (error) {
    if (isOutsideReportDay(error)) {
      stop.because(MONDAY_ENDED);
      return MONDAY_ENDED.code;
    }
    const ids = { channel: channel.name, deliveryId: delivery.id };
    log.error("A delivery could not be dispatched", { ...ids, code: databaseCode(error) });
    return "delivery_dispatch_failed";
  }
}

// Never its message, which may quote what was to be sent.
function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}
