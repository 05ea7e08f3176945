import {
  type FindMessages,
  type KeptMessage,
  type MessageQuestion,
  type MessageSearch,
  TOO_MANY_MESSAGES,
} from "../../../providers/evolution/find-messages.ts";

/** Far more than two minutes need in which messages leave at ten times the usual pace. */
const MOST_QUESTIONS = 40;
const SECOND_MS = 1_000;

/**
 * Finds messages as `find` does, of a time with more than the gateway gives at once in shorter and shorter times.
 *
 * Behaviour: the gateway knows whole seconds: one with too many, or too many questions, is a failure.
 */
export async function findInParts(
  find: FindMessages,
  question: MessageQuestion,
  signal: AbortSignal | undefined,
): Promise<MessageSearch> {
  const messages: KeptMessage[] = [];
  const parts = [question];
  for (let asked = 1; parts.length > 0; asked += 1) {
    const part = parts.pop()!;
    const search = await find(part, signal);
    const middleMs = Math.floor((part.fromMs + part.toMs) / 2 / SECOND_MS) * SECOND_MS;
    const isDivisible = part.fromMs <= middleMs && middleMs + SECOND_MS <= part.toMs;
    if (search.status === "answered") messages.push(...search.messages);
    else if (search.code !== TOO_MANY_MESSAGES || !isDivisible || asked >= MOST_QUESTIONS) return search;
    else parts.push({ ...part, fromMs: middleMs + SECOND_MS }, { ...part, toMs: middleMs });
  }
  return { status: "answered", messages };
}
