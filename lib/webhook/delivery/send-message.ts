import type { EvolutionClient } from "../../providers/evolution/client.ts";
import type { FindInstance } from "../../providers/evolution/instance.ts";
import type { SendOutcome } from "../../providers/send-outcome.ts";
import { SEND_OVER_MS } from "../store/model.ts";
import { type Attempt, type AttemptResult, type Retry, retry } from "./attempt.ts";

/** The gateway writes a message down after it has sent it: a quick send can be looked up so long after its beginning. */
const SOON_MS = 5_000;
/** Behind a time limit the gateway may still wait for WhatsApp: up to a minute, and half a minute is over. */
const LATE_MS = 35_000;
/** The longest that a Retry-After may keep alerts waiting: that of a proxy may say an hour, or a day. */
const LONGEST_RETRY_AFTER_MS = 5 * 60_000;

/** What a proxy answers without passing the request on: a redirection, or a refusal. */
const NOT_PASSED_ON = /^gateway_http_(?:3\d\d|401|403|404|405|407)$/;
/** The proxy's time was over, or its answer did not come whole, so that it is not known which it was. */
const PROXY_LATE = /^gateway_(?:http_(?:504|522|524)|(?!http_).*)$/;
const CLOSED_BEFORE_SEND = "gateway_http_500";

/**
 * Sends the WhatsApp message of a row, once.
 *
 * Shape:     needs the gateway's client, what finds the instance that sends, and the number that gets the alerts.
 * Behaviour: a refusal that would meet every message is one of our account: of our key, our licence, the sending number,
 *            or an instance that the gateway says is not open. No message is refused for good: phone and instance can
 *            be repaired while it waits.
 */
export function messageAttempt(dependencies: {
  gateway: Pick<EvolutionClient, "sendText">;
  findInstance: FindInstance;
  phone: string;
}): Attempt {
  const { gateway, findInstance, phone } = dependencies;
  return async ({ text }, signal) => {
    const instance = await findInstance(signal);
    if (instance.status !== "found")
      return retry(instance.code, instance.stopsChannel ? "account" : "service");
    const result = resultOf(
      await gateway.sendText({ instanceName: instance.name, number: phone, text }, signal),
    );
    // The instance may have been renamed or created again since it was found.
    if (result.status === "retry" && result.code === "sem_instancia_gateway") instance.forget?.();
    return result;
  };
}

function resultOf(outcome: SendOutcome): AttemptResult {
  switch (outcome.status) {
    case "sent":
      return { status: "delivered", reference: outcome.providerMessageId, url: null };
    case "throttled":
      return retry(outcome.code, "service", {
        retryAfterMs: Math.min(outcome.retryAfterMs, LONGEST_RETRY_AFTER_MS),
      });
    case "failed":
      if (outcome.stopsChannel) return retry(outcome.code, "account");
      return retry(outcome.code, outcome.code === "gateway_unreachable" ? "service" : "row");
    case "unknown":
      return unknownResult(outcome);
  }
}

/** An answer that leaves it open counts as a failure of the service: others would end the same way. */
function unknownResult(outcome: SendOutcome & { status: "unknown" }): Retry {
  const { channel } = outcome;
  const arrival = arrivalOf(outcome);
  if (channel !== undefined) return retry(channel.code, "account", { cause: channel.cause, arrival });
  const isClosed = outcome.isOutage === true && outcome.code === CLOSED_BEFORE_SEND;
  return retry(isClosed ? "gateway_connection_closed" : outcome.code, "service", { arrival });
}

/** Whether the message may have arrived, and when a look-up can show it. */
function arrivalOf({ code, isOutage }: SendOutcome & { status: "unknown" }): Retry["arrival"] {
  if (isOutage !== true) {
    const later = code === "gateway_timeout" ? LATE_MS : SOON_MS;
    return { isAmbiguous: true, knownAfterMs: code === "gateway_aborted" ? SEND_OVER_MS : later };
  }
  if (NOT_PASSED_ON.test(code)) return null;
  return { isAmbiguous: false, knownAfterMs: PROXY_LATE.test(code) ? LATE_MS : SOON_MS };
}
