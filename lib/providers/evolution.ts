import { type CallRecord, type CallResult, callPeer } from "../platform/http.ts";
import { member, type PeerAnswer } from "../platform/http-answer.ts";
import { peerUrl } from "../platform/http-url.ts";
import type { Secret } from "../platform/secret.ts";
import { codeOfCall, messageIdOf, type SendOutcome } from "./send-outcome.ts";

/** One WhatsApp text; `number` is digits with country code. */
export type WhatsappText = { instanceName: string; number: string; text: string };

/** Whether an instance may send, or why not; `stopsChannel` when the gateway refuses us, whatever the instance. */
export type InstanceCheck = { open: true } | { open: false; code: string; stopsChannel: boolean };

/**
 * The messaging gateway.
 *
 * Shape: `checkInstance` says `open` only when the answer does; `sendText` sends once and never repeats.
 */
export type EvolutionClient = {
  checkInstance(instanceName: string, signal?: AbortSignal): Promise<InstanceCheck>;
  sendText(message: WhatsappText, signal?: AbortSignal): Promise<SendOutcome>;
};

/** Longest time of one call: above the 60 s that the gateway waits for its own number check, well below the lease. */
export const EVOLUTION_SEND_TIMEOUT_MS = 90_000;

/**
 * The client of the messaging gateway, Evolution API v2.
 *
 * Errors: none thrown; what an answer means is decided by its shape, since the gateway turns a failure after the
 *         send into a 400 as well. Messages of the gateway are compared and dropped, never kept.
 * Source: github.com/EvolutionAPI/evolution-api at 3454bec (2.3.6) and 2.4.0-rc2, read 2026-11-21.
 */
export function evolutionClient(options: {
  baseUrl: URL;
  adminKey: Secret;
  timeoutMs?: number;
  onCall?: (record: CallRecord) => void;
}): EvolutionClient {
  const { baseUrl, adminKey, timeoutMs = EVOLUTION_SEND_TIMEOUT_MS, onCall } = options;
  const common = () => ({ peer: "gateway", headers: { apikey: adminKey.open() }, timeoutMs, onCall });

  return {
    async checkInstance(instanceName, signal) {
      const url = peerUrl(baseUrl, ["instance", "connectionState", instanceName]);
      const result = await callPeer({ ...common(), method: "GET", url, signal });
      if (result.class === "answered" && stateOf(result.answer) === "open") return { open: true };
      // Key and licence are looked at before every route, so they are met here first.
      const refusal = result.answer === null ? null : refusalOf(result.answer);
      if (refusal?.stopsChannel) return { open: false, ...refusal };
      return { open: false, code: "sem_instancia_gateway", stopsChannel: false };
    },
    async sendText({ instanceName, number, text }, signal) {
      const url = peerUrl(baseUrl, ["message", "sendText", instanceName]);
      const body = { number, text, linkPreview: false };
      const definitive = (answer: PeerAnswer) => refusalOf(answer) !== null;
      return outcomeOf(await callPeer({ ...common(), method: "POST", url, body, signal, definitive }));
    },
  };
}

function stateOf({ json }: PeerAnswer): unknown {
  return member(member(json, "instance"), "state");
}

function outcomeOf(result: CallResult): SendOutcome {
  const code = codeOfCall("gateway", result);
  switch (result.class) {
    case "answered":
      return acceptance(result.answer.json);
    case "rejected":
      return { status: "failed", ...(refusalOf(result.answer) ?? { code, stopsChannel: false }) };
    case "not_sent":
      return { status: "failed", code, stopsChannel: false };
    case "throttled":
      return { status: "throttled", code, retryAfterMs: result.retryAfterMs };
    case "ambiguous":
      return { status: "unknown", code };
  }
}

function acceptance(json: unknown): SendOutcome {
  const providerMessageId = messageIdOf(member(member(json, "key"), "id"));
  if (providerMessageId !== null) return { status: "sent", providerMessageId };
  const metaCode = metaRefusal(json);
  if (metaCode !== null) return { status: "failed", code: `meta_${metaCode}`, stopsChannel: false };
  return {
    status: "unknown",
    code: json === undefined ? "gateway_answer_unreadable" : "gateway_answer_without_id",
  };
}

// Faults on Meta's side, which its error reference answers with a 5xx or calls possible server errors: they do not
// prove a refusal. (Error codes, Cloud API documentation, read 2026-11-21.)
const META_FAULTS = new Set([1, 2, 131000, 131016]);

// With the WHATSAPP-BUSINESS integration the gateway answers 201 with Meta's own error object.
function metaRefusal(json: unknown): number | null {
  const code = member(json, "code");
  if (member(json, "type") !== "OAuthException" || member(json, "key") !== undefined) return null;
  if (typeof code !== "number" || !Number.isInteger(code) || code < 1 || code > 9_999_999) return null;
  return META_FAULTS.has(code) ? null : code;
}

type Refusal = { code: string; stopsChannel: boolean };

// The rows of the contract that precede the send, recognised by shape; any other refusal proves nothing.
function refusalOf({ status, json }: PeerAnswer): Refusal | null {
  const message = member(member(json, "response"), "message");
  switch (status) {
    case 400:
      return badRequest(json, message);
    case 401:
      return message === "Unauthorized" ? { code: "gateway_unauthorized", stopsChannel: true } : null;
    case 404:
      return missing(message);
    case 413:
      return { code: "gateway_http_413", stopsChannel: false };
    case 503:
      return member(json, "code") === "LICENSE_REQUIRED"
        ? { code: "gateway_license_required", stopsChannel: true }
        : null;
    default:
      return null;
  }
}

function badRequest(json: unknown, message: unknown): Refusal | null {
  const refusal = (code: string) => ({ code, stopsChannel: false });
  if (typeof message === "string") {
    return member(json, "error") === "Internal Server Error" ? refusal("gateway_body_unreadable") : null;
  }
  if (!Array.isArray(message) || message.length === 0) return null;
  if (message.every(isTextList)) return refusal("gateway_body_invalid");
  if (message.length === 1 && message[0] === "Text is required") return refusal("gateway_text_missing");
  const absent = message.every((item) => member(item, "exists") === false);
  return absent ? refusal("recipient_not_on_whatsapp") : null;
}

function isTextList(item: unknown): boolean {
  return Array.isArray(item) && item.length > 0 && item.every((text) => typeof text === "string");
}

function missing(message: unknown): Refusal | null {
  const text = Array.isArray(message) && message.length === 1 ? message[0] : null;
  if (typeof text !== "string") return null;
  if (/^The ".*" instance does not exist$/s.test(text))
    return { code: "sem_instancia_gateway", stopsChannel: false };
  return text.startsWith("Cannot POST /") ? { code: "gateway_http_404", stopsChannel: false } : null;
}
