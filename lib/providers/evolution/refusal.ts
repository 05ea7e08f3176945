import { member, type PeerAnswer } from "../../platform/http/answer.ts";
import type { CallResult } from "../../platform/http/call-peer.ts";
import { codeOfCall } from "../send-outcome.ts";

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
      return message === "Unauthorized" ? refused("gateway_unauthorized", true) : null;
    case 404:
      return missing(message);
    case 413:
      return refused("gateway_http_413");
    case 503:
      return member(json, "code") === "LICENSE_REQUIRED" ? refused("gateway_license_required", true) : null;
    default:
      return null;
  }
}

const refused = (code: string, stopsChannel = false): GatewayRefusal => ({ code, stopsChannel });

function badRequest(json: unknown, message: unknown): GatewayRefusal | null {
  if (typeof message === "string")
    return member(json, "error") === "Internal Server Error" ? refused("gateway_body_unreadable") : null;
  if (!Array.isArray(message) || message.length === 0) return null;
  if (message.every(isTextList)) return refused("gateway_body_invalid");
  if (message.length === 1 && message[0] === "Text is required") return refused("gateway_text_missing");
  const isAbsent = message.every((item) => member(item, "exists") === false);
  return isAbsent ? refused("recipient_not_on_whatsapp") : null;
}

function isTextList(item: unknown): boolean {
  return Array.isArray(item) && item.length > 0 && item.every((text) => typeof text === "string");
}

function missing(message: unknown): GatewayRefusal | null {
  const text = Array.isArray(message) && message.length === 1 ? message[0] : null;
  if (typeof text !== "string") return null;
  if (/^The ".*" instance does not exist$/s.test(text)) return refused("sem_instancia_gateway");
  return text.startsWith("Cannot POST /") ? refused("gateway_http_404") : null;
}

/** The code of a gateway that cannot ask its own database. */
export const DATABASE_FAILED = "gateway_database_failed";

/** How long to leave such a gateway alone: a database that restarts is back within a minute. */
export const DATABASE_BACK_AFTER_MS = 10_000;

/** What is read before a send: the instance by the guard, the rest by the check of the number. */
const BEFORE_A_SEND: ReadonlySet<string | null> = new Set(["instance", "contact", "isOnWhatsapp"]);

/** Whether the gateway failed at its database before it came to the send. */
export function failedBeforeSend(answer: PeerAnswer | null): boolean {
  return BEFORE_A_SEND.has(failedTable(answer));
}

/** The code for a question that has no answer of use. */
export function codeOfQuestion(result: CallResult): string {
  return failedTable(result.answer) === null ? codeOfCall("gateway", result) : DATABASE_FAILED;
}

/**
 * The table whose query failed, or null when the answer is not that of a failed query.
 *
 * Behaviour: a failure inside or after the send is a 400, and no failed query in the sense of this function.
 * Source:    a running 2.3.6 (github.com/EvolutionAPI/evolution-api at 3454bec) whose PostgreSQL was stopped,
 *            2026-11-23: the words before the table's name depend on NODE_ENV, and the guard puts the error's name
 *            before them.
 */
function failedTable(answer: PeerAnswer | null): string | null {
  if (answer?.status !== 500) return null;
  const message = member(member(answer.json, "response"), "message");
  const text = Array.isArray(message) && message.length === 1 ? message[0] : message;
  if (typeof text !== "string") return null;
  const [, query] =
    /^(?:PrismaClient\w{1,60}: )?\s*Invalid `([\w.$]{1,200})\(\)` invocation/.exec(text) ?? [];
  return query?.split(".").at(-2) ?? null;
}
