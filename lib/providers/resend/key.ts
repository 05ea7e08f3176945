import { member } from "../../platform/http/answer.ts";
import { type CallRecord, callPeer } from "../../platform/http/call-peer.ts";
import { peerUrl } from "../../platform/http/url.ts";
import type { Secret } from "../../platform/secrets/secret.ts";
import { codeOfCall } from "../send-outcome.ts";

/** Whether the e-mail provider knows a key; `unclear` when its answer proves neither. */
export type KeyState =
  | { status: "accepted" }
  | { status: "refused"; code: string }
  | { status: "unclear"; code: string };

/** Names of errors that are about the key itself. */
const REFUSALS = new Set(["missing_api_key", "invalid_api_key", "suspended_api_key", "invalid_permission"]);

/**
 * Asks the e-mail provider about a key without sending anything: lists the domains of the account.
 *
 * Behaviour: the provider tells a key that may only send that it may not list, which proves that it knows the key.
 * Errors:    none thrown; codes `email_…`.
 * Source:    resend.com/docs/api-reference/errors and resend/resend-openapi at fd6f395, GET /domains, read 2026-11-21.
 */
export async function checkResendKey(options: {
  baseUrl: URL;
  apiKey: Secret;
  timeoutMs: number;
  signal?: AbortSignal | undefined;
  onCall?: ((record: CallRecord) => void) | undefined;
}): Promise<KeyState> {
  const { baseUrl, apiKey, timeoutMs, signal, onCall } = options;
  const result = await callPeer({
    peer: "email",
    method: "GET",
    url: peerUrl(baseUrl, ["domains"]),
    headers: { authorization: `Bearer ${apiKey.open()}` },
    timeoutMs,
    signal,
    onCall,
  });
  if (result.status === "answered" && Array.isArray(member(result.answer.json, "data")))
    return { status: "accepted" };
  const json = result.answer?.json;
  const name = member(json, "name");
  const message = member(json, "message");
  if (name === "restricted_api_key") return { status: "accepted" };
  const isInvalid = typeof message === "string" && /^\s*api key is invalid\.?\s*$/i.test(message);
  if (isInvalid) return { status: "refused", code: "email_api_key_invalid" };
  if (typeof name === "string" && REFUSALS.has(name)) return { status: "refused", code: name };
  const isAnswered = result.status === "answered";
  return { status: "unclear", code: isAnswered ? "email_answer_unreadable" : codeOfCall("email", result) };
}
