import { member, type PeerAnswer } from "../../platform/http/answer.ts";
import type { CallResult } from "../../platform/http/call-peer.ts";
import { codeOfCall, messageIdOf, PROXY_OUTAGES, type SendOutcome } from "../send-outcome.ts";
import { metaErrorCode, metaVerdict } from "./meta-error.ts";
import { DATABASE_BACK_AFTER_MS, DATABASE_FAILED, failedBeforeSend, gatewayRefusal } from "./refusal.ts";

/** The outcome of a send, by the gateway's answer alone. */
export function outcomeOf(result: CallResult): SendOutcome {
  const code = codeOfCall("gateway", result);
  switch (result.status) {
    case "answered":
      return acceptance(result.answer.json);
    case "rejected":
      return { status: "failed", ...(gatewayRefusal(result.answer) ?? { code, stopsChannel: false }) };
    case "not_sent":
      return { status: "failed", code, stopsChannel: false };
    case "throttled":
      return { status: "throttled", code, retryAfterMs: result.retryAfterMs };
    case "ambiguous":
      if (failedBeforeSend(result.answer))
        return { status: "throttled", code: DATABASE_FAILED, retryAfterMs: DATABASE_BACK_AFTER_MS };
      return { status: "unknown", code, ...outageIn(result.answer), ...channelFaultIn(result.answer) };
  }
}

/** The gateway passes Meta's errors on with the status of a success (integration WHATSAPP-BUSINESS). */
function acceptance(json: unknown): SendOutcome {
  const key = member(json, "key");
  const providerMessageId = messageIdOf(member(key, "id"));
  if (providerMessageId !== null) return { status: "sent", providerMessageId };
  const code = key === undefined ? metaErrorCode(json) : null;
  if (code !== null) return refusalByMeta(code);
  return {
    status: "unknown",
    code: json === undefined ? "gateway_answer_unreadable" : "gateway_answer_without_id",
  };
}

function refusalByMeta(number: number): SendOutcome {
  const code = `meta_${number}`;
  const verdict = metaVerdict(number);
  if (verdict.status === "throttled") return { ...verdict, code };
  if (verdict.status === "unclear") return { status: "unknown", code };
  return { status: "failed", code, stopsChannel: verdict.status === "account" };
}

/** Refusals of a proxy before the gateway. */
const PROXY_REFUSALS: readonly number[] = [401, 403, 404, 405, 407];

/** The gateway's own errors have a form by which they are known. */
function outageIn(answer: PeerAnswer | null): Pick<SendOutcome & { status: "unknown" }, "isOutage"> {
  if (answer === null) return {};
  const { status, json } = answer;
  const mayBeProxy =
    (status >= 300 && status <= 399) || PROXY_REFUSALS.includes(status) || PROXY_OUTAGES.includes(status);
  const isProxy = mayBeProxy && member(json, "response") === undefined;
  return isProxy || isClosedBeforeSend(answer) ? { isOutage: true } : {};
}

/**
 * A refusal of the account by Meta inside an error of the gateway. The gateway may have failed after the send, so the
 * message stays unknown; the account is refused all the same.
 */
function channelFaultIn(answer: PeerAnswer | null): Pick<SendOutcome & { status: "unknown" }, "channel"> {
  const message = member(member(answer?.json, "response"), "message");
  const number = metaErrorCode(Array.isArray(message) ? message[0] : message);
  if (number === null || metaVerdict(number).status !== "account") return {};
  return { channel: { code: `meta_${number}` } };
}

/**
 * Whether the gateway found its connection to WhatsApp closed when it asked whether the number exists, before a send.
 *
 * Behaviour: the instance's state may be `open` all the same. A connection that is missed inside the send has another
 *            form: 400, and a list of text.
 * Source:    github.com/EvolutionAPI/evolution-api, every tag from 2.2.0 to 2.3.7 and 2.4.0-rc2,
 *            `whatsapp.baileys.service.ts`, sendMessageWithTyping, read 2026-11-23: the check of the number comes before
 *            the `try` in which all of the send is, and whose every exception becomes a 400; what the check throws
 *            reaches `main.ts` as it is.
 */
function isClosedBeforeSend({ status, json }: PeerAnswer): boolean {
  return status === 500 && member(member(json, "response"), "message") === "Connection Closed";
}
