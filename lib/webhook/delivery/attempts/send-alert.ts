import type { EvolutionClient } from "../../../providers/evolution/client.ts";
import type { FindInstance } from "../../../providers/evolution/instance.ts";
import type { IssueTracker } from "../../../providers/issue-outcome.ts";
import type { SendOutcome } from "../../../providers/send-outcome.ts";
import { alertPatience } from "../../alert-patience.ts";
import { issuePriority, issueTitle, renderIssueBody } from "../../texts/issue/issue.ts";
import type { Attempt, AttemptResult, Retry } from "./attempt.ts";
import { KEPT_AFTER_MS, OVER_AFTER_MS } from "./doubt.ts";
import { issueIdOf } from "./issue-id.ts";

const TIMED_OUT = "gateway_timeout";
const SERVICE_ENDED = "gateway_aborted";
/** The code names the status of an answer that came whole. */
const WHOLE_ANSWER = "gateway_http_";
const PROXY_TIMED_OUT = "gateway_http_504";
/** With `isOutage`: the gateway found its connection to WhatsApp closed before the send. */
const CLOSED = "gateway_http_500";
const PASSED_ON: ReadonlySet<string> = new Set([CLOSED, "gateway_http_502", "gateway_http_503"]);
const CONNECTION_LOST = "gateway_connection_lost";
/** It may wait a minute for WhatsApp before it sends, half of which the send itself has waited. */
const LATE_MS = 35_000;

/**
 * Sends the WhatsApp message of an alert, once.
 *
 * Behaviour: a send without a clear answer is one that the gateway may have taken. An answer that never came from the
 *            gateway is an outage, during which the gateway may have taken what a proxy passed on. A refusal that would
 *            meet every message stops the channel: of our key, licence or sending account, and of an instance that the
 *            gateway itself says is not open. No message is refused for good: the phone or the instance can be mended
 *            while it waits.
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
      return retry(instance.code, { peerDown: true, stopsChannel: instance.stopsChannel });
    const outcome = await gateway.sendText(
      { instanceName: instance.name, number: phone, text: text ?? "" },
      signal,
    );
    const result = resultOf(outcome);
    // The instance may have been renamed or made anew since it was found.
    if (result.status === "retry" && result.code === "sem_instancia_gateway") instance.forget?.();
    return result;
  };
}

/** Creates the issue of an alert; a repeated creation has the same id, by which the tracker knows it. */
export function issueAttempt(tracker: Pick<IssueTracker, "createIssue">): Attempt {
  return async ({ alert, claimedAtMs }, signal) => {
    const issue = {
      id: issueIdOf(alert.fingerprint, claimedAtMs ?? 0),
      title: issueTitle(alert),
      description: renderIssueBody(alert),
      priority: issuePriority(alert.severity),
    };
    const outcome = await tracker.createIssue(issue, signal);
    switch (outcome.status) {
      case "created":
        return { status: "delivered", reference: outcome.identifier ?? outcome.id, url: outcome.url };
      case "refused":
        return { status: "refused", code: outcome.code };
      case "throttled":
        return retry(outcome.code, { peerDown: true, retryAfterMs: outcome.retryAfterMs });
      case "unknown":
        return retry(outcome.code, { peerDown: true });
    }
  };
}

function resultOf(outcome: SendOutcome): AttemptResult {
  switch (outcome.status) {
    case "sent":
      return { status: "delivered", reference: outcome.providerMessageId, url: null };
    case "throttled":
      return retry(outcome.code, { peerDown: true, retryAfterMs: alertPatience(outcome.retryAfterMs) });
    case "failed":
      return retry(outcome.code, {
        stopsChannel: outcome.stopsChannel,
        peerDown: outcome.code === "gateway_unreachable",
      });
    case "unknown":
      return unknownResult(outcome);
  }
}

function unknownResult({ code, channel, isOutage }: SendOutcome & { status: "unknown" }): Retry {
  const more = isOutage ? unansweredIn(code) : { unclear: uncertaintyOf(code) };
  const ownCode = isOutage && code === CLOSED ? "gateway_connection_closed" : code;
  if (channel === undefined) return retry(ownCode, { peerDown: true, ...more });
  const { code: channelCode, cause } = channel;
  return retry(channelCode, { peerDown: true, stopsChannel: true, cause, ...more });
}

/**
 * When to look a message up that an outage may not have kept from the gateway.
 *
 * Behaviour: a proxy's time is over, or the gateway is away for it; it gives its other answers before it passes
 *            anything on. Which of them it was is not known where its page did not come whole. A gateway that is cut
 *            off from WhatsApp sent nothing by all that is known of it; looking costs one question.
 */
function unansweredIn(code: string): Pick<Retry, "unanswered"> {
  if (code === PROXY_TIMED_OUT || !code.startsWith(WHOLE_ANSWER))
    return { unanswered: { knownAfterMs: LATE_MS } };
  return PASSED_ON.has(code) ? { unanswered: { knownAfterMs: KEPT_AFTER_MS } } : {};
}

function uncertaintyOf(code: string): NonNullable<Retry["unclear"]> {
  if (code === TIMED_OUT) return { knownAfterMs: LATE_MS };
  if (code === SERVICE_ENDED) return { knownAfterMs: OVER_AFTER_MS };
  return code === CONNECTION_LOST
    ? { knownAfterMs: KEPT_AFTER_MS, isLost: true }
    : { knownAfterMs: KEPT_AFTER_MS };
}

function retry(
  code: string,
  {
    stopsChannel = false,
    peerDown = false,
    retryAfterMs = null,
    unclear = null,
    cause,
    unanswered,
  }: Partial<Omit<Retry, "code">>,
): Retry {
  const passedOn = unanswered === undefined ? {} : { unanswered };
  return { status: "retry", code, cause, stopsChannel, peerDown, retryAfterMs, unclear, ...passedOn };
}
