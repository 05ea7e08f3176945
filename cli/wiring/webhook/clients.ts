import type { CallRecord } from "../../../lib/platform/http/call-peer.ts";
import { evolutionClient } from "../../../lib/providers/evolution/client.ts";
import { messageFinder } from "../../../lib/providers/evolution/find-messages.ts";
import { resolveInstance } from "../../../lib/providers/evolution/instance.ts";
import { askMessageStatus } from "../../../lib/providers/evolution/message-status.ts";
import { linearTracker } from "../../../lib/providers/linear/client.ts";
import { pingOf } from "../../../lib/providers/ping.ts";
import type { WebhookConfig } from "../../../lib/webhook/config.ts";
import { messageLookUp } from "../../../lib/webhook/delivery/attempts/look-up.ts";
import { issueAttempt, messageAttempt } from "../../../lib/webhook/delivery/attempts/send-alert.ts";
import { commentAttempt } from "../../../lib/webhook/delivery/attempts/send-comment.ts";
import { authenticator } from "../../../lib/webhook/http/authenticate.ts";
import { alertEmailSender } from "../../../lib/webhook/second-channel/email-sender.ts";
import type { State } from "../../../lib/webhook/state/contract.ts";
import { askAboutMessage, gatewayStateOf } from "../../../lib/webhook/watch/ask-gateway.ts";

/**
 * How long calls may take.
 *
 * Shape: `sendLimitMs` is for a message, an issue or a comment, after which it counts as failed; `lookUpLimitMs` for
 *        one query for a message that may have been sent: the gateway reads its own database.
 */
export type CallLimits = { sendLimitMs: number; lookUpLimitMs: number };

type ClientParts = CallLimits & {
  nowMs: () => number;
  state: Pick<State, "heldReferences">;
  onCall: (record: CallRecord) => void;
};

/**
 * What the service makes of the settings that a reload changes: who may post, how messages, issues and comments are sent
 * and messages looked for, and the services that are watched.
 */
export function clientsOf(
  { messaging, tracker, secondChannel, pingUrl, ...config }: WebhookConfig,
  { nowMs, sendLimitMs, lookUpLimitMs, state, onCall }: ClientParts,
) {
  const { phone, instance: configured } = messaging;
  const service = { baseUrl: new URL(messaging.apiUrl), adminKey: messaging.apiKey, onCall };
  const gateway = evolutionClient({ ...service, timeoutMs: sendLimitMs });
  const findInstance = resolveInstance({ gateway, configured });
  const { token, teamId } = tracker;
  const issues = linearTracker({ url: new URL(tracker.url), token, teamId, timeoutMs: sendLimitMs, onCall });
  const watched = evolutionClient(service);
  const findWatched = resolveInstance({ gateway: watched, configured });
  const watchPeers = {
    gatewayState: gatewayStateOf({ gateway: watched, findInstance: findWatched }),
    messageStatus: askAboutMessage({ ask: askMessageStatus(service), findInstance: findWatched }),
    sendEmail: secondChannel === null ? null : alertEmailSender(secondChannel, onCall),
    ping: pingUrl === null ? null : pingOf(pingUrl),
  };
  return {
    authenticate: authenticator(config),
    attempts: {
      message: messageAttempt({ gateway, findInstance, phone }),
      issue: issueAttempt(issues),
      // Always there: rows may wait from before comments were turned off.
      comment: commentAttempt(issues),
    },
    lookUp: messageLookUp({
      find: messageFinder({ ...service, timeoutMs: lookUpLimitMs }),
      heldReferences: (kind, references) => state.heldReferences(kind, references),
      ...{ findInstance, phone, nowMs },
    }),
    watchPeers: () => watchPeers,
  };
}
