import type { Log } from "../../platform/log/log.ts";
import type { SendOutcome } from "../../providers/send-outcome.ts";
import type { ChannelStopReason } from "../context/channel-stop.ts";
import { MONDAY_ENDED, type Stop } from "../context/run-stop.ts";
import type { DeliveryClaim } from "../database/deliveries.ts";
import type { Scope } from "../database/recipients.ts";
import {
  databaseCode,
  isOutsideReportDay,
  isRowGone,
  REPORT_PATIENCE_MS,
  repeatWhileLost,
} from "../database/refusals.ts";
import type { Store } from "../database/store.ts";
import type { Payload } from "../payload.ts";
import type { DeliveryChannel, DeliveryOutcome, FailureFacts, Prepared, ReadyDelivery } from "./channel.ts";

/** What an attempt needs of its run. */
export type AttemptDependencies = {
  store: Pick<Store, "dispatchDelivery">;
  stop: Stop;
  log: Log;
  monotonicMs(): number;
  sleep(ms: number, signal: AbortSignal): Promise<void>;
};

/** A delivery that this process has claimed: what is sent, by what, and how long the claim still lasts. */
export type DeliveryInProgress = {
  id: string;
  token: string;
  channel: DeliveryChannel;
  claim: DeliveryClaim;
  scope: Scope;
  payload: Payload;
  leaseLeftMs(): number;
};

/** What settling may take after the last send of a claim. */
export const SETTLE_MS = 10_000;
const THROTTLED_REPEATS = 3;
/** A provider that asks for more patience than this gets no further message in this run. */
const LONGEST_PATIENCE_MS = 30 * 60_000;

/**
 * Addresses a claimed delivery, passes the point of no return and sends; only a throttled answer is repeated.
 *
 * Behaviour: never throws; the longest wait leaves time inside the lease to send once more and to settle.
 */
export async function attempt(
  dependencies: AttemptDependencies,
  delivery: DeliveryInProgress,
): Promise<DeliveryOutcome> {
  const { channel, leaseLeftMs } = delivery;
  const prepared = await prepare(dependencies, delivery);
  if (prepared.status !== "ready") return failed(prepared.code, prepared);

  let release: (() => void) | null = null;
  try {
    for (let repeats = 0; ; repeats += 1) {
      const outcome = await sendOnce(dependencies, delivery, prepared);
      if (outcome.status !== "throttled") return outcome;
      release?.();
      const { code, retryAfterMs } = outcome;
      const patienceMs = leaseLeftMs() - channel.sendTimeoutMs - SETTLE_MS;
      if (retryAfterMs > LONGEST_PATIENCE_MS) return failed(code, { stopsChannel: true });
      if (repeats === THROTTLED_REPEATS || patienceMs <= retryAfterMs)
        return failed(code, { throttled: true });
      await dependencies.sleep(retryAfterMs, channel.stop.signal).catch(() => {});
      // In the queue again: a repeat that did not wait for its turn would be over the rate, and get the next 429.
      const patience = AbortSignal.timeout(patienceMs - retryAfterMs);
      release = await channel.pace.turn(AbortSignal.any([channel.stop.signal, patience])).catch(() => null);
      if (release === null && patience.aborted) return failed(code, { throttled: true });
    }
  } finally {
    release?.();
  }
}

async function prepare(
  { stop, log }: AttemptDependencies,
  { id, channel, claim, payload }: DeliveryInProgress,
): Promise<Prepared> {
  try {
    return await channel.prepare(claim, payload, stop.abandon);
  } catch (error) {
    const ids = { channel: channel.name, deliveryId: id };
    log.error("A message could not be made", { ...ids, cause: nameOf(error) });
    return { status: "failed", code: "delivery_prepare_failed" };
  }
}

/** One dispatch and one send, unless run or channel has stopped; a send that breaks off stays in doubt. */
async function sendOnce(
  dependencies: AttemptDependencies,
  delivery: DeliveryInProgress,
  prepared: ReadyDelivery,
): Promise<SendOutcome | DeliveryOutcome> {
  const { stop, log } = dependencies;
  const { id, channel } = delivery;
  const stopped: ChannelStopReason | null = stop.reason() ?? channel.stop.reason();
  if (stopped !== null) return failed(stopped.code, { cause: stopped.cause });
  const undispatched = await dispatch(dependencies, delivery, prepared.maskedHint);
  if (undispatched !== null) return failed(undispatched);
  return await prepared.send(stop.abandon).catch((error: unknown): SendOutcome => {
    log.error("A send broke off", { channel: channel.name, deliveryId: id, cause: nameOf(error) });
    return { status: "unknown", code: "delivery_send_broke_off" };
  });
}

/** Passes the point of no return. Null, or the code of why it could not: then nothing may be sent. */
async function dispatch(
  dependencies: AttemptDependencies,
  { id, token, channel, leaseLeftMs }: DeliveryInProgress,
  maskedHint: string,
): Promise<string | null> {
  const { store, stop, log } = dependencies;
  // What follows has to fit into the lease, too.
  const patienceMs = Math.min(REPORT_PATIENCE_MS, leaseLeftMs() - channel.sendTimeoutMs - SETTLE_MS);
  try {
    await repeatWhileLost(() => store.dispatchDelivery({ id, token }, channel.senderTenantId!, maskedHint), {
      ...dependencies,
      deadlineMs: dependencies.monotonicMs() + Math.max(patienceMs, SETTLE_MS),
      signal: stop.signal,
    });
    return null;
  } catch (error) {
    if (isOutsideReportDay(error)) {
      stop.because(MONDAY_ENDED);
      return MONDAY_ENDED.code;
    }
    const facts = { channel: channel.name, deliveryId: id, code: databaseCode(error) };
    // Settling finds out why a row is gone, and says so where it is a failure.
    if (!isRowGone(error)) log.error("A delivery could not be dispatched", facts);
    return "delivery_dispatch_failed";
  }
}

function failed(
  code: string,
  { stopsChannel = false, timedOut, throttled, cause }: FailureFacts = {},
): DeliveryOutcome {
  return { status: "failed", code, stopsChannel, timedOut, throttled, beforeSend: !throttled, cause };
}

// Never the error's message, which may quote what was to be sent.
function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}
