import { WEBHOOK_QUESTION } from "../../host/webhook-names.ts";
import { callPeer } from "../../platform/http/call-peer.ts";
import type { Secret } from "../../platform/secrets/secret.ts";

/** What a look at the alert webhook found: `ready`, or why a failed run could not be announced. */
export type WebhookState = { status: "ready" } | { status: "refused" | "unreachable"; cause: string };

/** The answer to the question from a webhook that takes the secret; one of an older version knows no such type. */
const TAKEN: readonly number[] = [204, 415];

/**
 * Whether the alert webhook answers and takes the secret, without telling it anything.
 *
 * Behaviour: posts the question without a body: the webhook checks the secret first. A post without a type would count
 *            as JSON.
 */
export async function checkAlertWebhook(call: {
  url: URL;
  secret: Secret;
  timeoutMs: number;
  signal: AbortSignal;
}): Promise<WebhookState> {
  const { url, secret, timeoutMs, signal } = call;
  const headers = { "x-webhook-secret": secret.open(), "content-type": WEBHOOK_QUESTION };
  const { answer, problem } = await callPeer({
    peer: "webhook",
    method: "POST",
    url,
    headers,
    timeoutMs,
    signal,
  });
  if (answer === null) return { status: "unreachable", cause: problem ?? "unreachable" };
  if (TAKEN.includes(answer.status)) return { status: "ready" };
  return { status: "refused", cause: `http_${answer.status}` };
}
