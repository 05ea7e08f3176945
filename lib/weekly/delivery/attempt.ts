import type { Log } from "../../platform/log/log.ts";
import type { SendOutcome } from "../../providers/send-outcome.ts";
import type { ChannelStopReason } from "../context/channel-stop.ts";
import { MONDAY_ENDED, type Stop } from "../context/run-stop.ts";
import type { GrantedClaim } from "../database/deliveries.ts";
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
import { LOOK_EVERY_MS } from "./away-sender.ts";
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
  claim: GrantedClaim;
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
  const prepared = await prepareOnceBack(dependencies, delivery);
  if (prepared.status !== "ready") return failed(prepared.code, prepared);
  return await sendUntilClear(dependencies, delivery, prepared);
}

/** Prepares the delivery; a sender that may be back in a moment is waited for, before anything is dispatched. */
async function prepareOnceBack(
  dependencies: AttemptDependencies,
  delivery: DeliveryInProgress,
): Promise<Prepared> {
  const { channel, leaseLeftMs } = delivery;
  for (;;) {
    const prepared = await prepare(dependencies, delivery);
    if (prepared.status === "ready") channel.awaySender.isBack();
    if (prepared.status === "ready" || !prepared.isPassing) return prepared;
    // The next look may take as long as a send.
    const patienceMs = leaseLeftMs() - 2 * channel.sendTimeoutMs - SETTLE_MS;
    const { isWorthwhile, begins } = channel.awaySender.wait(dependencies.monotonicMs());
    if (!isWorthwhile || patienceMs <= LOOK_EVERY_MS) return prepared;
    if (begins) logWait(dependencies, channel, prepared);
    if (!(await waitForStart(dependencies, channel, LOOK_EVERY_MS, patienceMs))) return prepared;
    const stopped = stoppedBy(dependencies, channel);
    if (stopped !== null) return { status: "failed", code: stopped.code, cause: stopped.cause };
  }
}

function logWait(
  { log }: AttemptDependencies,
  { name }: DeliveryChannel,
  { code, cause }: { code: string } & FailureFacts,
): void {
  const facts = { channel: name, code, cause, waitsFor: "gateway" };
  log.warn(
    "The sender is away, perhaps for a moment: deliveries wait for it, a minute and a half at most",
    facts,
  );
}

/** Sends, and again after each throttled answer, as often as it is allowed and as long as the lease lasts. */
async function sendUntilClear(
  dependencies: AttemptDependencies,
  delivery: DeliveryInProgress,
  prepared: ReadyDelivery,
): Promise<DeliveryOutcome> {
  const { channel, leaseLeftMs } = delivery;
  for (let repeats = 0; ; repeats += 1) {
    const outcome = await sendOnce(dependencies, delivery, prepared);
    if (outcome.status !== "throttled") return outcome;
    const { code, retryAfterMs } = outcome;
    const patienceMs = leaseLeftMs() - channel.sendTimeoutMs - SETTLE_MS;
    if (retryAfterMs > LONGEST_PATIENCE_MS) return failed(code, { stopsChannel: true });
    if (repeats === THROTTLED_REPEATS || patienceMs <= retryAfterMs) return failed(code, { throttled: true });
    if (!(await waitForStart(dependencies, channel, retryAfterMs, patienceMs)))
      return failed(code, { throttled: true });
  }
}

/**
 * Waits, then for a start within the rate; false when `patienceMs` ended first. True also when the channel has stopped.
 */
async function waitForStart(
  { sleep }: AttemptDependencies,
  { rate, stop }: DeliveryChannel,
  waitMs: number,
  patienceMs: number,
): Promise<boolean> {
  await sleep(waitMs, stop.signal).catch(() => {});
  const patience = AbortSignal.timeout(patienceMs - waitMs);
  const isStarted = await rate.acquire(AbortSignal.any([stop.signal, patience])).then(
    () => true,
    () => false,
  );
  return isStarted || !patience.aborted;
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
  const stopped = stoppedBy(dependencies, channel);
  if (stopped !== null) return failed(stopped.code, { cause: stopped.cause });
  const undispatched = await dispatch(dependencies, delivery, prepared.maskedHint);
  if (undispatched !== null) return failed(undispatched);
  return await prepared.send(stop.abandon).catch((error: unknown): SendOutcome => {
    log.error("A send broke off", { channel: channel.name, deliveryId: id, cause: nameOf(error) });
    return { status: "unknown", code: "delivery_send_broke_off" };
  });
}

/** Why nothing more may be sent; null while the run and the channel go on. */
function stoppedBy({ stop }: AttemptDependencies, channel: DeliveryChannel): ChannelStopReason | null {
  return stop.reason() ?? channel.stop.reason();
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
