import type { CallRecord } from "../../../lib/platform/http/call-peer.ts";
import { evolutionClient } from "../../../lib/providers/evolution/client.ts";
import { resolveInstance } from "../../../lib/providers/evolution/instance.ts";
import { askMessageStatus } from "../../../lib/providers/evolution/message-status.ts";
import { pingOf } from "../../../lib/providers/ping.ts";
import type { WebhookConfig } from "../../../lib/webhook/config.ts";
import { alertEmailSender } from "../../../lib/webhook/second-channel/email-sender.ts";
import { askAboutMessage, gatewayStateOf } from "../../../lib/webhook/watch/ask-gateway.ts";
import type { WatchPeers } from "../../../lib/webhook/watch/watch.ts";

/** Opens what the watch over the alarm asks and tells: gateway, e-mail provider, ping. */
export function watchPeersOf(
  { messaging, secondChannel, pingUrl }: Pick<WebhookConfig, "messaging" | "secondChannel" | "pingUrl">,
  onCall: (record: CallRecord) => void,
): WatchPeers {
  const peer = { baseUrl: new URL(messaging.apiUrl), adminKey: messaging.apiKey, onCall };
  const gateway = evolutionClient(peer);
  const findInstance = resolveInstance({ gateway, configured: messaging.instance });
  return {
    gatewayState: gatewayStateOf({ gateway, findInstance }),
    messageStatus: askAboutMessage({ ask: askMessageStatus(peer), findInstance }),
    sendEmail: secondChannel === null ? null : alertEmailSender(secondChannel, onCall),
    ping: pingUrl === null ? null : pingOf(pingUrl),
  };
}
