import * as v from "valibot";
import { member } from "../../platform/http/answer.ts";
import type { CallResult, PeerCall } from "../../platform/http/call-peer.ts";
import { messageIdOf } from "../send-outcome.ts";
import { callGateway, type GatewayOptions } from "./call.ts";
import { codeOfQuestion, gatewayRefusal } from "./refusal.ts";

/**
 * One message that the gateway keeps as sent by an instance.
 *
 * Shape: `id` is the provider's message id; `text` is null for what is no plain text; `statuses` are WhatsApp's
 *        acknowledgements as far as the gateway kept them, such as `DELIVERY_ACK`, or `ERROR`.
 * Units: `sentAtMs` is the gateway's clock, cut to whole seconds.
 */
export type KeptMessage = {
  id: string;
  remoteJid: string;
  text: string | null;
  sentAtMs: number;
  statuses: string[];
};

/** Recipient, null for anyone, and time of the messages; both bounds are included. */
export type MessageQuestion = {
  instanceName: string;
  remoteJid: string | null;
  fromMs: number;
  toMs: number;
};

/**
 * The messages that were found, all of them, or why they are not known.
 *
 * Shape: `fault` is `refused` when the gateway refuses us whatever we ask, `question` when it refuses this question
 *        alone, `silent` when it gave no usable answer.
 */
export type MessageSearch =
  | { status: "answered"; messages: KeptMessage[] }
  | { status: "failed"; code: string; fault: "refused" | "question" | "silent" };

/** Asks the gateway what it keeps; never throws, sends nothing and changes nothing. */
export type FindMessages = (question: MessageQuestion, signal?: AbortSignal) => Promise<MessageSearch>;

/** The code of a question that more messages fit than are asked for. */
export const TOO_MANY_MESSAGES = "gateway_messages_too_many";

/** Longest time of one question; the gateway reads its own database. */
export const FIND_MESSAGES_TIMEOUT_MS = 15_000;

/**
 * All of them come in one page: the gateway orders by whole seconds alone, so that of messages of one second some may
 * be on two pages and others on none. A weekly recipient gets a handful in an hour; who sends more asks for a shorter
 * time.
 */
const MOST_MESSAGES = 200;
/** Kept messages may carry small pictures. */
const MAX_ANSWER_BYTES = 8 * 1_048_576;

/**
 * Finds what an instance has sent to one recipient or to all, by `POST /chat/findMessages`.
 *
 * Behaviour: asks once, for a page that holds all. What does not fit the question is dropped, because a gateway that
 *            does not know a filter ignores it silently. A row is kept by the gateway after the send and may be
 *            missing.
 * Errors:    none thrown; `gateway_messages_too_many` when there are more than 200, when the answer says more than it
 *            holds or is larger than is read, else the codes of the gateway.
 * Source:    github.com/EvolutionAPI/evolution-api at 3454bec (2.3.6), fa09d37 (2.3.7) and 2.4.0-rc2,
 *            `channel.service.ts` fetchMessages, read 2026-11-22: the filter of time needs both bounds, `offset` is
 *            the size of a page, the newest message comes first. A running 2.3.6 showed 137 of 150 messages of four
 *            seconds on eight pages of 20, 2026-11-23.
 */
export function messageFinder(options: GatewayOptions): FindMessages {
  const { timeoutMs = FIND_MESSAGES_TIMEOUT_MS } = options;
  return async (question, signal) => {
    const body = questionBody(question);
    const result = await callFindMessages(options, question.instanceName, { body, timeoutMs, signal });
    const page = pageOf(result);
    if (isTooLarge(result) || page?.isWhole === false)
      return { status: "failed", code: TOO_MANY_MESSAGES, fault: "question" };
    if (page === null) return failureOf(result);
    return { status: "answered", messages: page.messages.filter((message) => fits(message, question)) };
  };
}

/** The call itself, whatever it asks for. */
export function callFindMessages(
  options: GatewayOptions,
  instanceName: string,
  call: Pick<PeerCall, "body" | "timeoutMs" | "signal">,
): Promise<CallResult> {
  const path = ["chat", "findMessages", instanceName];
  return callGateway(options, { ...call, method: "POST", path, maxAnswerBytes: MAX_ANSWER_BYTES });
}

/** More than is read of an answer that would have been usable. */
function isTooLarge({ problem, answer }: CallResult): boolean {
  return problem === "answer_too_large" && (answer === null || (answer.status >= 200 && answer.status < 300));
}

function questionBody({ remoteJid, fromMs, toMs }: MessageQuestion): Record<string, unknown> {
  const messageTimestamp = { gte: new Date(fromMs).toISOString(), lte: new Date(toMs).toISOString() };
  const recipient = remoteJid === null ? {} : { remoteJid };
  return { where: { key: { ...recipient, fromMe: true }, messageTimestamp }, page: 1, offset: MOST_MESSAGES };
}

const recordSchema = v.object({
  key: v.object({ remoteJid: v.string(), fromMe: v.boolean(), id: v.string() }),
  messageTimestamp: v.pipe(
    v.union([v.number(), v.pipe(v.string(), v.regex(/^\d{1,12}$/))]),
    v.transform(Number),
  ),
  message: v.optional(v.unknown()),
  MessageUpdate: v.optional(v.unknown()),
});

const pageSchema = v.object({
  messages: v.object({
    total: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0)), 0),
    pages: v.pipe(v.number(), v.integer(), v.minValue(0)),
    records: v.array(recordSchema),
  }),
});

/**
 * A page of kept messages that were sent, or null when a row cannot be read: it might be the one that is looked for.
 *
 * Shape: `isWhole` unless more fit the question than the page holds.
 */
export function pageOf(result: CallResult): { isWhole: boolean; messages: KeptMessage[] } | null {
  const parsed = result.status === "answered" ? v.safeParse(pageSchema, result.answer.json) : null;
  if (!parsed?.success) return null;
  const { pages, total, records } = parsed.output.messages;
  const messages = records.filter(({ key }) => key.fromMe).map(keptOf);
  if (messages.some(({ id }) => messageIdOf(id) === null)) return null;
  return { isWhole: pages <= 1 && total <= records.length, messages };
}

function keptOf(record: v.InferOutput<typeof recordSchema>): KeptMessage {
  const { key, message, messageTimestamp, MessageUpdate } = record;
  const { id, remoteJid } = key;
  const statuses = statusesOf(MessageUpdate);
  return { id, remoteJid, text: textOf(message), sentAtMs: messageTimestamp * 1000, statuses };
}

/** The gateway itself turns the second form into the first; older rows may have it. */
function textOf(message: unknown): string | null {
  const text = member(message, "conversation") ?? member(member(message, "extendedTextMessage"), "text");
  return typeof text === "string" ? text : null;
}

function statusesOf(updates: unknown): string[] {
  const statuses = Array.isArray(updates) ? updates.map((update) => String(member(update, "status"))) : [];
  return statuses.filter((status) => /^[A-Z_]{1,30}$/.test(status));
}

/** Whole seconds on both sides, as the gateway compares them. */
function fits(message: KeptMessage, { remoteJid, fromMs, toMs }: MessageQuestion): boolean {
  const isInTime = message.sentAtMs >= Math.floor(fromMs / 1000) * 1000 && message.sentAtMs <= toMs;
  return isInTime && (remoteJid === null || message.remoteJid === remoteJid);
}

/** Why there is no such page. */
export function failureOf(result: CallResult): Extract<MessageSearch, { status: "failed" }> {
  if (result.status === "answered")
    return { status: "failed", code: "gateway_answer_unreadable", fault: "silent" };
  const refusal = gatewayRefusal(result.answer);
  if (refusal === null) return { status: "failed", code: codeOfQuestion(result), fault: "silent" };
  return { status: "failed", code: refusal.code, fault: refusal.stopsChannel ? "refused" : "question" };
}
