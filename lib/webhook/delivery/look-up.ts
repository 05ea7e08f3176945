import type { FindMessages, KeptMessage } from "../../providers/evolution/find-messages.ts";
import type { FindInstance } from "../../providers/evolution/instance.ts";
import { recipientJids } from "../../providers/evolution/recipient-jids.ts";
import { type LookUp, retry } from "./attempt.ts";

/** How far the gateway's clock may be behind ours. */
const BEHIND_MS = 60_000;
/** How far it may be ahead. */
const AHEAD_MS = 5 * 60_000;

/** The gateway cannot be asked now; any other failure leaves it unknown what it has sent. */
const NOT_ASKED =
  /^gateway_(?:database_failed|unreachable|timeout|connection_lost|aborted|http_(?:50[234]|52[0-7]|530))$/;

/**
 * Looks at the gateway for a message that may have arrived.
 *
 * Shape:     needs what asks the gateway for messages, what finds the instance that sends, the number that gets the
 *            alerts, and the clock that people read.
 * Behaviour: found are messages with exactly the text, to any form of the number, from a minute before the first attempt
 *            until now; one that WhatsApp returned with an error and never acknowledged does not count. Where they
 *            are too many, it is not known.
 */
export function messageLookUp(dependencies: {
  find: FindMessages;
  findInstance: FindInstance;
  phone: string;
  nowMs: () => number;
}): LookUp {
  const { find, findInstance, phone, nowMs } = dependencies;
  const recipients = recipientJids(phone);
  return async ({ text, firstBegunAtMs }, signal) => {
    const instance = await findInstance(signal);
    if (instance.status !== "found") return failure(instance.code);
    const toMs = Math.max(nowMs(), firstBegunAtMs) + AHEAD_MS;
    const time = { instanceName: instance.name, fromMs: firstBegunAtMs - BEHIND_MS, toMs };
    const search = await find({ ...time, remoteJid: null }, signal);
    if (search.status === "failed") return failure(search.code);
    const isOurs = (one: KeptMessage) =>
      recipients.includes(one.remoteJid) && one.text === text && !isReturned(one);
    return search.messages.filter(isOurs).map(({ id }) => id);
  };
}

function failure(code: string): Awaited<ReturnType<LookUp>> {
  return NOT_ASKED.test(code) ? retry(code, "service") : [];
}

/** WhatsApp's error after the gateway took it, and no acknowledgement. */
function isReturned({ statuses }: KeptMessage): boolean {
  const acknowledged = ["SERVER_ACK", "DELIVERY_ACK", "READ", "PLAYED"];
  return statuses.includes("ERROR") && !acknowledged.some((status) => statuses.includes(status));
}
