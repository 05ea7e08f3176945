import type { Log } from "../../platform/log/log.ts";
import type { ChannelStopReason } from "../context/channel-stop.ts";
import type { Tally } from "../context/summary.ts";
import type { DeliveryChannel, DeliveryOutcome } from "./channel.ts";

/**
 * Each silence costs the whole time limit, and each throttled delivery costs all its repeats, for which the owner's
 * other channel waits: there must not be thousands of them. They leave no doubt to look up, and the next run tries
 * again.
 */
const FRUITLESS_BEFORE_STOP = 100;

/**
 * Stops a channel that refuses opsctl, left ten deliveries in doubt in a row, or brought nothing a hundred times in a
 * row: the next run sends the rest.
 *
 * Behaviour: to be called after each attempt. Only a clear answer to a send ends a row: a delivery that failed before
 *            its send, for want of a number say, tells nothing of the provider.
 */
export function stopChannelIfNoUse(
  { tally, log }: { tally: Tally; log: Log },
  channel: DeliveryChannel,
  outcome: DeliveryOutcome,
): void {
  const passing = passingFaultIn(outcome);
  if (passing !== null) tally.fail({ step: channel.name, ...passing });
  const reason = refusalIn(outcome) ?? fruitlessFor(channel, outcome);
  if (channel.stop.reason() !== null || reason === null) return;
  channel.stop.because(reason);
  // The code of a failed delivery is in the summary already, with that delivery.
  if (outcome.status !== "failed" || outcome.code !== reason.code)
    tally.failFirst({ step: channel.name, ...reason });
  log.error("A channel was stopped for the rest of the run", { channel: channel.name, ...reason });
}

/** Counts deliveries that brought nothing; the reason to stop when there were too many in a row, else null. */
function fruitlessFor(channel: DeliveryChannel, outcome: DeliveryOutcome): ChannelStopReason | null {
  const { status } = outcome;
  const isThrottled = status === "failed" && outcome.throttled === true;
  const isSilent = status === "failed" && outcome.timedOut === true;
  const isClear = status === "sent" || (status === "failed" && !outcome.beforeSend);
  if (status === "unknown") channel.doubts.add();
  if (status === "unknown" || isThrottled || isSilent) channel.fruitlessInARow += 1;
  else if (isClear) {
    channel.doubts.clear();
    channel.fruitlessInARow = 0;
  }
  if (!channel.doubts.isSpent() && channel.fruitlessInARow < FRUITLESS_BEFORE_STOP) return null;
  return { code: isThrottled ? outcome.code : `${channel.name}_not_answering` };
}

/** A fault that may be over in a moment: it stops nothing, since each delivery checks its sender first. */
function passingFaultIn(outcome: DeliveryOutcome): ChannelStopReason | null {
  if (outcome.status !== "unknown" || !outcome.channel?.isPassing) return null;
  const { code, cause } = outcome.channel;
  return { code, cause };
}

/** The reason to stop in one outcome: a refusal of the channel, or a fault found after a send that stays in doubt. */
function refusalIn(outcome: DeliveryOutcome): ChannelStopReason | null {
  if (outcome.status === "unknown") return outcome.channel?.isPassing ? null : (outcome.channel ?? null);
  if (outcome.status !== "failed" || !outcome.stopsChannel) return null;
  return { code: outcome.code, cause: outcome.cause };
}
