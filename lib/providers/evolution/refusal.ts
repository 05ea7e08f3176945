import { member, type PeerAnswer } from "../../platform/http/answer.ts";

/** A refusal before the send; `stopsChannel` when the gateway refuses us, whatever the message. */
export type GatewayRefusal = { code: string; stopsChannel: boolean };

/**
 * The refusal that an answer proves, or null; null is no answer.
 *
 * Behaviour: judged by the answer's form, because the gateway turns a failure after the send into a 400 as well; its
 *            messages are compared and not kept.
 * Source:    github.com/EvolutionAPI/evolution-api at 3454bec (2.3.6) and 2.4.0-rc2, read 2026-11-21.
 */
export function gatewayRefusal(answer: PeerAnswer | null): GatewayRefusal | null {
  if (answer === null) return null;
  const { status, json } = answer;
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

function badRequest(json: unknown, message: unknown): GatewayRefusal | null {
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

function missing(message: unknown): GatewayRefusal | null {
  const text = Array.isArray(message) && message.length === 1 ? message[0] : null;
  if (typeof text !== "string") return null;
  if (/^The ".*" instance does not exist$/s.test(text))
    return { code: "sem_instancia_gateway", stopsChannel: false };
  return text.startsWith("Cannot POST /") ? { code: "gateway_http_404", stopsChannel: false } : null;
}
