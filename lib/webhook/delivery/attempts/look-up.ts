import {
  type FindMessages,
  type KeptMessage,
  type MessageQuestion,
  type MessageSearch,
  TOO_MANY_MESSAGES,
} from "../../../providers/evolution/find-messages.ts";
import type { FindInstance } from "../../../providers/evolution/instance.ts";
import { recipientJids } from "../../../providers/evolution/recipient-jids.ts";
import type { DueRow, State } from "../../state/contract.ts";
import type { LookUp } from "./attempt.ts";

/** How far the clocks of state, service and gateway may be apart. */
const CLOCKS_DIFFER_MS = 60_000;
/** Around the first and the latest attempt: at the usual pace the gateway gives all messages of such a time. */
const NEAR_MS = 2 * 60_000;
/** Ids that rows of this process are just being given, and that the state does not have yet. */
const MOST_TAKEN = 1_000;

/** What a look-up at the gateway needs. */
export type LookUpDependencies = {
  find: FindMessages;
  findInstance: FindInstance;
  phone: string;
  heldReferences: State["heldReferences"];
  nowMs: () => number;
};

/**
 * Looks at the gateway for a message whose send ended without a clear answer.
 *
 * Behaviour: found is a message to the same number, since the row's first attempt, with the very text and an id that no
 *            other row has; of a long time with many messages only those near its ends are looked at. A gateway that cannot be asked, or keeps nothing, says nothing; the first question that it
 *            does not answer is the last. A message that WhatsApp gave back with an error does not count.
 */
export function messageLookUp(dependencies: LookUpDependencies): LookUp {
  const taken = new Map<string, number>();
  return async (row, signal) => {
    const free = await freeIds(dependencies, await keptIds(dependencies, row, signal));
    const id = free.find((one) => (taken.get(one) ?? row.id) === row.id);
    if (id === undefined) return null;
    taken.set(id, row.id);
    if (taken.size > MOST_TAKEN) taken.delete(taken.keys().next().value!);
    return { status: "delivered", reference: id, url: null };
  };
}

/** The ids of kept messages that may be a row's. */
async function keptIds(
  { find, findInstance, phone, nowMs }: LookUpDependencies,
  { firstBegunAtMs, text }: DueRow,
  signal: AbortSignal,
): Promise<string[]> {
  const instance = await findInstance(signal);
  if (instance.status !== "found" || firstBegunAtMs === null) return [];
  const [fromMs, toMs] = [firstBegunAtMs - CLOCKS_DIFFER_MS, nowMs() + CLOCKS_DIFFER_MS];
  const ids: string[] = [];
  for (const remoteJid of recipientJids(phone)) {
    const search = await findAll(find, { instanceName: instance.name, remoteJid, fromMs, toMs }, signal);
    if (search.status === "failed") break;
    ids.push(...search.messages.filter((one) => one.text === text && !isReturned(one)).map(({ id }) => id));
  }
  return ids;
}

/** All messages of the time; where that are too many, those near its ends. */
async function findAll(
  find: FindMessages,
  question: MessageQuestion,
  signal: AbortSignal,
): Promise<MessageSearch> {
  const all = await find(question, signal);
  if (all.status === "answered" || all.code !== TOO_MANY_MESSAGES) return all;
  const nearMs = CLOCKS_DIFFER_MS + NEAR_MS;
  const first = await find({ ...question, toMs: question.fromMs + nearMs }, signal);
  const latest = await find({ ...question, fromMs: question.toMs - nearMs }, signal);
  if (first.status === "failed") return latest;
  if (latest.status === "failed") return first;
  return { status: "answered", messages: [...first.messages, ...latest.messages] };
}

/** Also when the state cannot say which ids are held: then the message is sent once more. */
async function freeIds({ heldReferences }: LookUpDependencies, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return [];
  try {
    const held = await heldReferences("message", ids);
    return ids.filter((id) => !held.has(id));
  } catch {
    return [];
  }
}

/** WhatsApp's error after the gateway took it, and no word that it arrived all the same. */
function isReturned({ statuses }: KeptMessage): boolean {
  const arrived = ["SERVER_ACK", "DELIVERY_ACK", "READ", "PLAYED"];
  return statuses.includes("ERROR") && !arrived.some((status) => statuses.includes(status));
}
