import type { CallRecord } from "../../../lib/platform/http/call-peer.ts";
import { EVOLUTION_STATE_TIMEOUT_MS, evolutionClient } from "../../../lib/providers/evolution/client.ts";
import { messageFinder } from "../../../lib/providers/evolution/find-messages.ts";
import { resolveInstance } from "../../../lib/providers/evolution/instance.ts";
import { askMessageStatus } from "../../../lib/providers/evolution/message-status.ts";
import { linearTracker } from "../../../lib/providers/linear/client.ts";
import { pingOf } from "../../../lib/providers/ping.ts";
import { resendClient } from "../../../lib/providers/resend/client.ts";
import type { FallbackConfig, WebhookConfig } from "../../../lib/webhook/config.ts";
import { messageLookUp } from "../../../lib/webhook/delivery/look-up.ts";
import { commentAttempt, issueAttempt } from "../../../lib/webhook/delivery/send-issue.ts";
import { messageAttempt } from "../../../lib/webhook/delivery/send-message.ts";
import { authenticator } from "../../../lib/webhook/http/authenticate.ts";

/** How long a send (of a message, an issue or a comment) and one query for a message that may have arrived may take. */
export type CallLimits = { sendLimitMs: number; lookUpLimitMs: number };

type ClientParts = CallLimits & { nowMs: () => number; onCall: (record: CallRecord) => void };

/**
 * Makes of the settings what a reload replaces: who may post, how messages, issues and comments are sent and messages
 * looked up, and the external services that are watched.
 */
export function clientsOf(config: WebhookConfig, parts: ClientParts) {
  const { messaging, tracker, fallback, pingUrl } = config;
  const { nowMs, sendLimitMs, lookUpLimitMs, onCall } = parts;
  const { phone, instance: configured } = messaging;
  const service = { baseUrl: new URL(messaging.apiUrl), adminKey: messaging.apiKey, onCall };
  const gateway = evolutionClient({ ...service, timeoutMs: sendLimitMs });
  const findInstance = resolveInstance({ gateway, configured });
  const watched = evolutionClient({ ...service, timeoutMs: EVOLUTION_STATE_TIMEOUT_MS });
  const issues = linearTracker({ ...tracker, url: new URL(tracker.url), timeoutMs: sendLimitMs, onCall });
  return {
    authenticate: authenticator(config),
    attempts: {
      message: messageAttempt({ gateway, findInstance, phone }),
      issue: issueAttempt(issues),
      comment: commentAttempt(issues),
    },
    lookUp: messageLookUp({
      find: messageFinder({ ...service, timeoutMs: lookUpLimitMs }),
      ...{ findInstance, phone, nowMs },
    }),
    watch: {
      gateway: watched,
      findInstance: resolveInstance({ gateway: watched, configured }),
      messageStatus: askMessageStatus(service),
      email: fallback && emailOf(fallback, onCall),
      ping: pingUrl && pingOf(pingUrl),
    },
  };
}

function emailOf({ apiUrl, apiKey, from, to }: FallbackConfig, onCall: (record: CallRecord) => void) {
  const purpose = "opsctl-alert-email";
  return { client: resendClient({ baseUrl: new URL(apiUrl), apiKey, purpose, onCall }), from, to };
}
