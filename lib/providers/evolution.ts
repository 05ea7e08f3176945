import { type CallRecord, type CallResult, callPeer } from "../platform/http.ts";
import { member, type PeerAnswer } from "../platform/http-answer.ts";
import { peerUrl } from "../platform/http-url.ts";
import type { Secret } from "../platform/secret.ts";
import { gatewayRefusal } from "./evolution-refusal.ts";
import { codeOfCall, messageIdOf, type SendOutcome } from "./send-outcome.ts";

/** One WhatsApp text; `number` is digits with country code. */
export type WhatsappText = { instanceName: string; number: string; text: string };

/**
 * Whether an instance may send, or why not; `stopsChannel` when the gateway refuses us, whatever the instance, and
 * `timedOut` when it said nothing in time.
 */
export type InstanceCheck =
  | { open: true }
  | { open: false; code: string; stopsChannel: boolean; timedOut: boolean };

/** The names of the instances that the key may see, or why they are not known. */
export type InstanceList = { ok: true; names: string[] } | { ok: false; code: string; stopsChannel: boolean };

/**
 * The messaging gateway.
 *
 * Shape: `checkInstance` says `open` only when the answer does; `sendText` sends once and never repeats.
 */
export type EvolutionClient = {
  checkInstance(instanceName: string, signal?: AbortSignal): Promise<InstanceCheck>;
  listInstances(signal?: AbortSignal): Promise<InstanceList>;
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
      const refusal = result.answer === null ? null : gatewayRefusal(result.answer);
      if (refusal?.stopsChannel) return { open: false, ...refusal, timedOut: false };
      const timedOut = result.problem === "timeout";
      return { open: false, code: "sem_instancia_gateway", stopsChannel: false, timedOut };
    },
    async listInstances(signal) {
      const url = peerUrl(baseUrl, ["instance", "fetchInstances"]);
      return instancesOf(await callPeer({ ...common(), method: "GET", url, signal }));
    },
    async sendText({ instanceName, number, text }, signal) {
      const url = peerUrl(baseUrl, ["message", "sendText", instanceName]);
      const body = { number, text, linkPreview: false };
      const definitive = (answer: PeerAnswer) => gatewayRefusal(answer) !== null;
      return outcomeOf(await callPeer({ ...common(), method: "POST", url, body, signal, definitive }));
    },
  };
}

// The rows hold each instance's own token: nothing but the names leaves this function.
function instancesOf(result: CallResult): InstanceList {
  if (result.class !== "answered") {
    const refusal = result.answer === null ? null : gatewayRefusal(result.answer);
    return { ok: false, ...(refusal ?? { code: codeOfCall("gateway", result), stopsChannel: false }) };
  }
  const rows = result.answer.json;
  const names = Array.isArray(rows) ? rows.map((row) => member(row, "name")) : [null];
  if (names.every(isName)) return { ok: true, names };
  return { ok: false, code: "gateway_answer_unreadable", stopsChannel: false };
}

function isName(value: unknown): value is string {
  return typeof value === "string" && value !== "";
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
      return { status: "failed", ...(gatewayRefusal(result.answer) ?? { code, stopsChannel: false }) };
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
