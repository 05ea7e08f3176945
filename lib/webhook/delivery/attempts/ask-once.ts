import {
  type FindMessages,
  type MessageSearch,
  TOO_MANY_MESSAGES,
} from "../../../providers/evolution/find-messages.ts";
import type { FindInstance } from "../../../providers/evolution/instance.ts";
import { recipientJids } from "../../../providers/evolution/recipient-jids.ts";
import type { DueRow } from "../../state/contract.ts";
import { findInParts } from "./find-in-parts.ts";
import { findToNumber } from "./find-to-number.ts";

/** How far the gateway's clock may be behind those of state and service. */
const BEHIND_MS = 60_000;
/** How long after its attempt a message may be kept, by a clock that is ahead: as long as two attempts are apart. */
const LATEST_MS = 5 * 60_000;

/**
 * What the gateway keeps of the time of a row's unanswered attempts, to every form of the alert's number.
 *
 * Behaviour: one request, because it is made before each attempt of an outage: for the messages to anyone, of a time in
 *            which the usual pace leaves fewer than come in one page. Where others send more through the same instance,
 *            it asks again for those to the alert's number alone.
 */
export async function askOnce(
  { find, findInstance, phone, nowMs }: AskOnceDependencies,
  { firstBegunAtMs, unansweredForMs }: Pick<DueRow, "firstBegunAtMs" | "unansweredForMs">,
  signal: AbortSignal,
): Promise<MessageSearch> {
  const instance = await findInstance(signal);
  if (instance.status !== "found") return { status: "failed", code: instance.code, fault: "silent" };
  const endedAtMs = nowMs() - (unansweredForMs ?? 0);
  const begunAtMs = firstBegunAtMs ?? endedAtMs;
  const time = { fromMs: begunAtMs - BEHIND_MS, toMs: Math.max(begunAtMs, endedAtMs) + LATEST_MS };
  const question = { instanceName: instance.name, ...time };
  const search = await find({ ...question, remoteJid: null }, signal);
  if (search.status === "failed")
    return search.code === TOO_MANY_MESSAGES
      ? await findToNumber((part) => findInParts(find, part, signal), { ...question, phone }, signal)
      : search;
  const ours = new Set(recipientJids(phone));
  return { ...search, messages: search.messages.filter(({ remoteJid }) => ours.has(remoteJid)) };
}

/** What the question needs. */
export type AskOnceDependencies = {
  find: FindMessages;
  findInstance: FindInstance;
  phone: string;
  nowMs: () => number;
};
