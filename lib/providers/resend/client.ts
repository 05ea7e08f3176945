/** The e-mail provider, Resend: sends the weekly reports. */
import { member, type PeerAnswer } from "../../platform/http/answer.ts";
import { type CallRecord, type CallResult, callPeer } from "../../platform/http/call-peer.ts";
import { peerUrl } from "../../platform/http/url.ts";
import type { RateLimiter } from "../../platform/rate/rate-limiter.ts";
import type { Secret } from "../../platform/secrets/secret.ts";
import { normalizeEmail } from "../../text/email-address.ts";
import { codeOfCall, messageIdOf, type SendOutcome } from "../send-outcome.ts";
import { rateObserver } from "./rate-observer.ts";
import { isQuota, nameOf, refusalOf } from "./refusal.ts";
import { senderText } from "./sender.ts";

/** One e-mail; `deliveryId` is the ledger's, or made of the content: a repeated call sends no second e-mail. */
export type Email = {
  from: string;
  fromName: string | null;
  replyTo: string | null;
  to: string;
  subject: string;
  /** Null for an e-mail in plain text alone. */
  html: string | null;
  text: string;
  /** Where the recipient stops such e-mails, for the header `List-Unsubscribe`; null leaves the header out. */
  unsubscribe: string | null;
  deliveryId: string;
};

/** The e-mail provider; `sendEmail` sends once and never repeats. */
export type ResendClient = {
  sendEmail(email: Email, signal?: AbortSignal): Promise<SendOutcome>;
};

/** What the e-mails are: keys of two purposes must not meet within one account of the provider. */
export type EmailPurpose = "weekly-performance-email" | "opsctl-alert-email";

/** Longest time of one send. */
export const RESEND_SEND_TIMEOUT_MS = 30_000;

/**
 * The client of the e-mail provider.
 *
 * Behaviour: the same e-mail always makes the same bytes, because the provider compares the payloads of a repeated key.
 *            `rate` gets what each answer publishes; the caller waits for its starts.
 * Errors:    none thrown; the provider's error names are the codes where they are well formed; its messages are
 *            compared and not kept.
 * Source:    github.com/resend/resend-openapi at fd6f395 and resend.com/docs/api-reference/errors, read 2026-11-21.
 */
export function resendClient(options: {
  baseUrl: URL;
  apiKey: Secret;
  purpose?: EmailPurpose;
  rate?: RateLimiter;
  timeoutMs?: number;
  onCall?: (record: CallRecord) => void;
}): ResendClient {
  const { baseUrl, apiKey, rate, timeoutMs = RESEND_SEND_TIMEOUT_MS, onCall } = options;
  const { purpose = "weekly-performance-email" } = options;
  const url = peerUrl(baseUrl, ["emails"]);
  const observe = rate === undefined ? () => {} : rateObserver(rate);

  return {
    async sendEmail(email, signal) {
      const problem = addressProblem(email);
      if (problem !== null) return { status: "failed", code: problem, stopsChannel: false };
      const result = await callPeer({
        peer: "email",
        method: "POST",
        url,
        headers: {
          authorization: `Bearer ${apiKey.open()}`,
          "idempotency-key": `${purpose}/${email.deliveryId}`,
        },
        body: requestBody(email),
        timeoutMs,
        signal,
        definitive: (answer) => answer.status < 500 && (answer.status !== 429 || isQuota(answer)),
        onCall,
      });
      if (result.answer !== null) observe(result.answer);
      return outcomeOf(result);
    },
  };
}

function addressProblem({ from, to }: Email): string | null {
  if (normalizeEmail(from) === null) return "email_sender_address_missing";
  return normalizeEmail(to) === null ? "recipient_email_missing" : null;
}

function requestBody(email: Email): Record<string, unknown> {
  const { from, fromName, replyTo, to, subject, html, text, unsubscribe, deliveryId } = email;
  const replyAddress = normalizeEmail(replyTo);
  return {
    from: senderText(normalizeEmail(from) ?? from, fromName),
    to: [normalizeEmail(to) ?? to],
    ...(replyAddress === null ? {} : { reply_to: replyAddress }),
    subject,
    ...(html === null ? {} : { html }),
    text,
    // No List-Unsubscribe-Post beside it: that promises that one click is enough.
    ...(unsubscribe === null ? {} : { headers: { "List-Unsubscribe": `<${unsubscribe}>` } }),
    tags: [{ name: "delivery_id", value: deliveryId }],
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
