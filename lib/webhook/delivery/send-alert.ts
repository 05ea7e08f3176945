import type { EvolutionClient } from "../../providers/evolution/client.ts";
import type { IssueTracker } from "../../providers/issue-outcome.ts";
import type { SendOutcome } from "../../providers/send-outcome.ts";
import { issuePriority, issueTitle, renderIssueBody } from "../texts/issue-body.ts";
import { renderMessage } from "../texts/message-text.ts";
import type { Attempt, AttemptResult } from "./attempt.ts";
import { issueIdOf } from "./issue-id.ts";

/** Finds the gateway's instance that sends, or the code of why there is none; `forget` makes it look again. */
export type FindInstance = (
  signal: AbortSignal,
) => Promise<{ name: string; forget?: () => void } | { code: string; stopsChannel: boolean }>;

/**
 * Sends the WhatsApp message of an alert, once.
 *
 * Shape: an ambiguous answer counts as a failure: a second message is better than a missing one. What no message could
 *        pass holds: a refusal of our key, licence or sending account, and an instance that the gateway itself calls
 *        not open. No refusal is for good, since the phone or the instance can be mended while it waits.
 */
export function messageAttempt(dependencies: {
  gateway: Pick<EvolutionClient, "sendText">;
  findInstance: FindInstance;
  phone: string;
}): Attempt {
  const { gateway, findInstance, phone } = dependencies;
  return async ({ alert, issueUrl }, signal) => {
    const instance = await findInstance(signal);
    if ("code" in instance) return failed(instance.code, { peerDown: true, holds: instance.stopsChannel });
    const text = renderMessage(alert, { issueUrl });
    const outcome = await gateway.sendText({ instanceName: instance.name, number: phone, text }, signal);
    const result = resultOf(outcome);
    // The instance may have been renamed or made anew since it was found.
    if (result.status === "failed" && result.code === "sem_instancia_gateway") instance.forget?.();
    return result;
  };
}

/** Creates the issue of an alert; a repeated creation meets the first one, by its id. */
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
        return failed(outcome.code, { peerDown: true, retryAfterMs: outcome.retryAfterMs });
      case "unknown":
        return failed(outcome.code, { peerDown: true });
    }
  };
}

function resultOf(outcome: SendOutcome): AttemptResult {
  switch (outcome.status) {
    case "sent":
      return { status: "delivered", reference: outcome.providerMessageId, url: null };
    case "throttled":
      return failed(outcome.code, { peerDown: true, retryAfterMs: outcome.retryAfterMs });
    case "failed":
      return failed(outcome.code, {
        holds: outcome.stopsChannel,
        peerDown: outcome.code === "gateway_unreachable",
      });
    case "unknown":
      return outcome.channel
        ? failed(outcome.channel.code, { peerDown: true, holds: true, cause: outcome.channel.cause })
        : failed(outcome.code, { peerDown: true });
  }
}

function failed(
  code: string,
  {
    peerDown = false,
    holds = false,
    retryAfterMs = null as number | null,
    cause = undefined as string | undefined,
  },
): AttemptResult {
  return { status: "failed", code, cause, peerDown, holds, retryAfterMs };
}
