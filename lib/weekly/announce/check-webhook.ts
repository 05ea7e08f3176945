import { callPeer } from "../../platform/http/call-peer.ts";
import type { Secret } from "../../platform/secrets/secret.ts";

/** What a look at the alert webhook found: `ready`, or why a failed run could not be announced. */
export type WebhookState = { status: "ready" } | { status: "refused" | "unreachable"; cause: string };

/** The webhook's answer to a post whose secret is right and whose body it does not read. */
const UNSUPPORTED_MEDIA_TYPE = 415;

/**
 * Whether the alert webhook answers and takes the secret, without telling it anything.
 *
 * Behaviour: posts without a body, as a text: the webhook checks the secret first, and refuses such a post for what it
 *            is. A post without a type would count as JSON.
 */
export async function checkAlertWebhook(call: {
  url: URL;
  secret: Secret;
  timeoutMs: number;
  signal: AbortSignal;
}): Promise<WebhookState> {
  const { url, secret, timeoutMs, signal } = call;
  const headers = { "x-webhook-secret": secret.open(), "content-type": "text/plain" };
  const { answer, problem } = await callPeer({
    peer: "webhook",
    method: "POST",
    url,
    headers,
    timeoutMs,
    signal,
  });
  if (answer === null) return { status: "unreachable", cause: problem ?? "unreachable" };
  if (answer.status === UNSUPPORTED_MEDIA_TYPE) return { status: "ready" };
  return { status: "refused", cause: `http_${answer.status}` };
}
