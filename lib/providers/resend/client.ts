/** The e-mail provider, Resend: sends the weekly reports. */
import { member, type PeerAnswer } from "../../platform/http/answer.ts";
import { type CallRecord, type CallResult, callPeer } from "../../platform/http/call-peer.ts";
import { parsePublishedRate } from "../../platform/http/published-rate.ts";
import { peerUrl } from "../../platform/http/url.ts";
import type { Pace } from "../../platform/rate/pace.ts";
import type { Secret } from "../../platform/secrets/secret.ts";
import { normalizeEmail } from "../../text/email-address.ts";
import { codeOfCall, messageIdOf, type SendOutcome } from "../send-outcome.ts";
import { senderText } from "./sender.ts";

/** One e-mail; `deliveryId` is the ledger's and makes the call repeatable without a second e-mail. */
export type Email = {
  from: string;
  fromName: string | null;
  replyTo: string | null;
  to: string;
  subject: string;
  html: string;
  text: string;
  deliveryId: string;
};

/** The e-mail provider; `sendEmail` sends once and never repeats. */
export type ResendClient = {
  sendEmail(email: Email, signal?: AbortSignal): Promise<SendOutcome>;
};

/** Longest time of one send. */
export const RESEND_SEND_TIMEOUT_MS = 30_000;

/**
 * The client of the e-mail provider.
 *
 * Behaviour: the same e-mail always makes the same bytes, because the provider compares the payloads of a repeated key.
 *            `pace` is told the rate that each answer publishes; the caller waits for its turns.
 * Errors:    none thrown; the provider's error names are the codes where they are well formed; its messages are
 *            compared and not kept.
 * Source:    github.com/resend/resend-openapi at fd6f395 and resend.com/docs/api-reference/errors, read 2026-11-21.
 */
export function resendClient(options: {
  baseUrl: URL;
  apiKey: Secret;
  pace?: Pace;
  timeoutMs?: number;
  onCall?: (record: CallRecord) => void;
}): ResendClient {
  const { baseUrl, apiKey, pace, timeoutMs = RESEND_SEND_TIMEOUT_MS, onCall } = options;
  const observe = pace === undefined ? () => {} : rateObserver(pace);

  return {
    async sendEmail(email, signal) {
      const problem = addressProblem(email);
      if (problem !== null) return { status: "failed", code: problem, stopsChannel: false };
      const result = await callPeer({
        peer: "email",
        method: "POST",
        url: peerUrl(baseUrl, ["emails"]),
        headers: {
          authorization: `Bearer ${apiKey.open()}`,
          "idempotency-key": `weekly-performance-email/${email.deliveryId}`,
        },
        body: requestBody(email),
        timeoutMs,
        signal,
        definitive: (answer) => answer.status < 500 && (answer.status !== 429 || isQuota(answer)),
        onCall,
      });
      // Without an answer no rate is learned, and the calls behind this one must not wait for it.
      if (result.answer === null) pace?.free();
      else observe(result.answer);
      return outcomeOf(result);
    },
  };
}

function addressProblem({ from, to }: Email): string | null {
  if (normalizeEmail(from) === null) return "email_sender_address_missing";
  return normalizeEmail(to) === null ? "recipient_email_missing" : null;
}

function requestBody(email: Email): Record<string, unknown> {
  const { from, fromName, replyTo, to, subject, html, text, deliveryId } = email;
  const replyAddress = normalizeEmail(replyTo);
  return {
    from: senderText(normalizeEmail(from) ?? from, fromName),
    to: [normalizeEmail(to) ?? to],
    ...(replyAddress === null ? {} : { reply_to: replyAddress }),
    subject,
    html,
    text,
    tags: [{ name: "delivery_id", value: deliveryId }],
  };
}

// Without a policy the window is the longest time to a reset seen so far: a reset counts down within it.
function rateObserver(pace: Pace): (answer: PeerAnswer) => void {
  let longestResetMs = 1_000;
  return (answer) => {
    const { limit, windowMs, remaining, resetMs, retryAfterMs } = parsePublishedRate(
      answer.headers,
      Date.now(),
    );
    longestResetMs = Math.max(longestResetMs, resetMs ?? 0);
    if (limit === null) pace.free();
    else pace.limit(limit, windowMs ?? longestResetMs);
    if (answer.status === 429 && !isQuota(answer)) pace.hold(retryAfterMs ?? resetMs ?? longestResetMs);
    else if (remaining === 0) pace.spent(resetMs ?? longestResetMs);
  };
}

function outcomeOf(result: CallResult): SendOutcome {
  switch (result.status) {
    case "answered":
      return acceptance(result.answer);
    case "rejected":
      return { status: "failed", ...refusalOf(result.answer) };
    case "not_sent":
      return { status: "failed", code: codeOfCall("email", result), stopsChannel: false };
    case "throttled":
      return { status: "throttled", code: nameOf(result.answer), retryAfterMs: result.retryAfterMs };
    case "ambiguous": {
      const code = result.problem === null && result.answer !== null ? nameOf(result.answer) : null;
      return { status: "unknown", code: code ?? codeOfCall("email", result) };
    }
  }
}

function acceptance({ json }: PeerAnswer): SendOutcome {
  const providerMessageId = messageIdOf(member(json, "id"));
  if (providerMessageId !== null) return { status: "sent", providerMessageId };
  return {
    status: "unknown",
    code: json === undefined ? "email_answer_unreadable" : "email_answer_without_id",
  };
}

const KEY_REFUSALS = new Set(["invalid_api_key", "suspended_api_key", "invalid_permission"]);
const KEY_STATUSES = new Set([400, 401, 403]);

function refusalOf(answer: PeerAnswer): { code: string; stopsChannel: boolean } {
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

function isQuota(answer: PeerAnswer): boolean {
  return answer.status === 429 && /^(?:daily|monthly)_quota_exceeded$/.test(nameOf(answer));
}

// New names may come: a well-formed one is the code, else the status is.
function nameOf({ status, json }: PeerAnswer): string {
  const name = member(json, "name");
  return typeof name === "string" && /^[a-z0-9_]{1,64}$/.test(name) ? name : `email_http_${status}`;
}

function messageOf({ json }: PeerAnswer): string {
  const message = member(json, "message");
  return typeof message === "string" ? message.slice(0, 1_000) : "";
}
