import { member, type PeerAnswer } from "../../platform/http/answer.ts";

const KEY_REFUSALS = new Set(["invalid_api_key", "suspended_api_key", "invalid_permission"]);
const KEY_STATUSES = new Set([400, 401, 403]);

/** The code of a refusal; `stopsChannel` when the provider refuses us, whatever we ask. */
export function refusalOf(answer: PeerAnswer): { code: string; stopsChannel: boolean } {
  const name = nameOf(answer);
  const message = messageOf(answer);
  if (KEY_STATUSES.has(answer.status)) {
    const invalid = name === "invalid_api_key" || /^\s*api key is invalid\.?\s*$/i.test(message);
    if (invalid) return { code: "email_api_key_invalid", stopsChannel: true };
    if (KEY_REFUSALS.has(name)) return { code: name, stopsChannel: true };
  }
  const unverified = answer.status === 403 && /\bdomain\b.*\bis not verified\b/is.test(message);
  if (unverified) return { code: "email_sender_domain_unverified", stopsChannel: false };
  return { code: name, stopsChannel: isQuota(answer) };
}

/** Whether a 429 says that a quota is used up, which no waiting of a run mends. */
export function isQuota(answer: PeerAnswer): boolean {
  return answer.status === 429 && /^(?:daily|monthly)_quota_exceeded$/.test(nameOf(answer));
}

/**
 * The provider's name of an error, which is the code.
 *
 * Behaviour: new names may come: a well-formed one is the code, else the status is (`email_http_<status>`).
 */
export function nameOf({ status, json }: PeerAnswer): string {
  const name = member(json, "name");
  return typeof name === "string" && /^[a-z0-9_]{1,64}$/.test(name) ? name : `email_http_${status}`;
}

function messageOf({ json }: PeerAnswer): string {
  const message = member(json, "message");
  return typeof message === "string" ? message.slice(0, 1_000) : "";
}
