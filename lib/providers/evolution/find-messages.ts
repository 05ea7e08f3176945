import * as v from "valibot";
import { member } from "../../platform/http/answer.ts";
import type { CallResult } from "../../platform/http/call-peer.ts";
import { messageIdOf } from "../send-outcome.ts";
import { callGateway, type GatewayOptions } from "./call.ts";
import { codeOfQuestion } from "./database-failure.ts";
import { gatewayRefusal } from "./refusal.ts";

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

/** Whose messages, null for those to anyone, and of which time; both bounds are included. */
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
    const result = await callGateway(options, {
      method: "POST",
      path: ["chat", "findMessages", question.instanceName],
      body: questionBody(question),
      timeoutMs,
      maxAnswerBytes: MAX_ANSWER_BYTES,
      signal,
    });
    if (isTooLarge(result)) return { status: "failed", code: TOO_MANY_MESSAGES, fault: "question" };
    const found = pageOf(result);
    if (found === null) return failureOf(result);
    if (found.pages > 1 || found.total > found.count)
      return { status: "failed", code: TOO_MANY_MESSAGES, fault: "question" };
    return { status: "answered", messages: found.records.flatMap((record) => fitting(record, question)) };
  };
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

/** A page; `count` is the number of its rows, `total` that of all which fit the question, as the gateway says. */
type Page = { pages: number; total: number; count: number; records: KeptMessage[] };

/** A page whose every row can be read, or null: a row that cannot might be the one that is looked for. */
function pageOf(result: CallResult): Page | null {
  if (result.status !== "answered") return null;
  const parsed = v.safeParse(pageSchema, result.answer.json);
  if (!parsed.success) return null;
  const { pages, total, records } = parsed.output.messages;
  const kept = records.filter(({ key }) => key.fromMe).map(keptOf);
  return kept.every((message) => message !== null)
    ? { pages, total, count: records.length, records: kept }
    : null;
}

function keptOf({
  key,
  message,
  messageTimestamp,
  MessageUpdate,
}: v.InferOutput<typeof recordSchema>): KeptMessage | null {
  const id = messageIdOf(key.id);
  if (id === null) return null;
  const { remoteJid } = key;
  const sentAtMs = messageTimestamp * 1000;
  return { id, remoteJid, sentAtMs, text: textOf(message), statuses: statusesOf(MessageUpdate) };
}

/** The gateway itself turns the second form into the first; older rows may have it. */
function textOf(message: unknown): string | null {
  const text = member(message, "conversation") ?? member(member(message, "extendedTextMessage"), "text");
  return typeof text === "string" ? text : null;
}

function statusesOf(updates: unknown): string[] {
  if (!Array.isArray(updates)) return [];
  return updates
    .map((update) => member(update, "status"))
    .filter((status): status is string => typeof status === "string" && /^[A-Z_]{1,30}$/.test(status));
}

/** Whole seconds on both sides, as the gateway compares them. */
function fitting(message: KeptMessage, { remoteJid, fromMs, toMs }: MessageQuestion): KeptMessage[] {
  const fromSecondMs = Math.floor(fromMs / 1000) * 1000;
  const isToThem = remoteJid === null || message.remoteJid === remoteJid;
  return isToThem && message.sentAtMs >= fromSecondMs && message.sentAtMs <= toMs ? [message] : [];
}

function failureOf(result: CallResult): MessageSearch {
  if (result.status === "answered")
    return { status: "failed", code: "gateway_answer_unreadable", fault: "silent" };
  const refusal = gatewayRefusal(result.answer);
  if (refusal === null) return { status: "failed", code: codeOfQuestion(result), fault: "silent" };
  return { status: "failed", code: refusal.code, fault: refusal.stopsChannel ? "refused" : "question" };
}
