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
import type { LookUp, LookUpResult } from "./attempt.ts";
import { isTooUnclear } from "./doubt.ts";

/** How far the clocks of state, service and gateway may be apart. */
const CLOCKS_DIFFER_MS = 60_000;
/** As far for what must not be overlooked: taken for absent, it would be sent again and again. */
const CLOCKS_FAR_APART_MS = 60 * 60_000;
/** Around the first and the latest attempt: at the usual pace the gateway gives all messages of such a time. */
const NEAR_MS = 2 * 60_000;
/** Ids that rows of this process are just being given, and that the state does not have yet. */
const MOST_TAKEN = 1_000;
/** How far back another message is looked for that shows that the gateway keeps them: a flood fills a short time. */
const SPANS_MS = [5 * 60_000, 60 * 60_000, 24 * 60 * 60_000];
/** Nothing of the question may have come through: the gateway will be asked again. */
const AWAY: ReadonlySet<string> = new Set([
  "gateway_unreachable",
  "gateway_connection_lost",
  ...[502, 503, 504].map((status) => `gateway_http_${status}`),
]);

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
 *            other row has; of a long time with many messages only those near its ends are looked at. A message that
 *            WhatsApp gave back with an error does not count. The first question that the gateway does not answer is the
 *            last. A message is absent where the gateway shows all of the time, and also keeps messages of other rows.
 */
export function messageLookUp(dependencies: LookUpDependencies): LookUp {
  const taken = new Map<string, number>();
  return async (row, signal) => {
    const kept = await keptSince(dependencies, row, signal);
    const same = kept.messages.filter((one) => one.text === row.text && !isReturned(one)).map(({ id }) => id);
    const free = await freeIds(dependencies, same);
    const id = free.find((one) => (taken.get(one) ?? row.id) === row.id);
    if (id === undefined)
      return await notFound(dependencies, row, { kept, hasSame: same.length > 0, signal });
    taken.set(id, row.id);
    if (taken.size > MOST_TAKEN) taken.delete(taken.keys().next().value!);
    return { status: "delivered", reference: id, url: null };
  };
}

/** Shape: `failure` is the code of the question without an answer, `isWhole` when all messages of the time are there. */
type Kept = { messages: KeptMessage[]; isWhole: boolean; failure: string | null };

/** What the gateway keeps of the time since a row's first attempt, of every form that it may give the number. */
async function keptSince(
  { find, findInstance, phone, nowMs }: LookUpDependencies,
  row: DueRow,
  signal: AbortSignal,
): Promise<Kept> {
  const { firstBegunAtMs } = row;
  const kept: Kept = { messages: [], isWhole: firstBegunAtMs !== null, failure: null };
  const instance = await findInstance(signal);
  if (instance.status !== "found") return { ...kept, failure: instance.code };
  if (firstBegunAtMs === null) return kept;
  const differMs = isTooUnclear(row) ? CLOCKS_FAR_APART_MS : CLOCKS_DIFFER_MS;
  const [fromMs, toMs] = [firstBegunAtMs - differMs, nowMs() + differMs];
  for (const remoteJid of recipientJids(phone)) {
    const search = await findAll(find, { instanceName: instance.name, remoteJid, fromMs, toMs }, signal);
    if (search.status === "failed") return { ...kept, failure: search.code };
    kept.messages.push(...search.messages);
    kept.isWhole &&= search.isWhole;
  }
  return kept;
}

async function notFound(
  dependencies: LookUpDependencies,
  row: DueRow,
  { kept, hasSame, signal }: { kept: Kept; hasSame: boolean; signal: AbortSignal },
): Promise<LookUpResult> {
  const { failure } = kept;
  if (failure !== null)
    return AWAY.has(failure) ? { status: "unanswered", code: failure } : { status: "not_found" };
  // A message with the same text may be that of this row, although another row has its id.
  if (!isTooUnclear(row) || !kept.isWhole || hasSame) return { status: "not_found" };
  const keeps = (await hasHeld(dependencies, kept.messages)) || (await keptBefore(dependencies, row, signal));
  return { status: keeps ? "absent" : "not_found" };
}

/** Whether the gateway keeps a message of before the row's first attempt that is known to be ours. */
async function keptBefore(
  dependencies: LookUpDependencies,
  { firstBegunAtMs }: DueRow,
  signal: AbortSignal,
): Promise<boolean> {
  const { find, findInstance, phone } = dependencies;
  const instance = await findInstance(signal);
  if (instance.status !== "found" || firstBegunAtMs === null) return false;
  for (const remoteJid of recipientJids(phone))
    for (const spanMs of SPANS_MS) {
      const question = { instanceName: instance.name, remoteJid, toMs: firstBegunAtMs };
      const search = await find({ ...question, fromMs: firstBegunAtMs - spanMs }, signal);
      if (search.status === "failed") break;
      if (await hasHeld(dependencies, search.messages)) return true;
    }
  return false;
}

async function hasHeld(
  { heldReferences }: LookUpDependencies,
  messages: readonly KeptMessage[],
): Promise<boolean> {
  if (messages.length === 0) return false;
  const ids = messages.map(({ id }) => id);
  return await heldReferences("message", ids).then(
    (held) => held.size > 0,
    () => false,
  );
}

type WholeSearch = MessageSearch & { isWhole: boolean };

/** All messages of the time; where that are too many, those near its ends. */
async function findAll(
  find: FindMessages,
  question: MessageQuestion,
  signal: AbortSignal,
): Promise<WholeSearch> {
  const all = await find(question, signal);
  if (all.status === "answered" || all.code !== TOO_MANY_MESSAGES) return { ...all, isWhole: true };
  const nearMs = CLOCKS_DIFFER_MS + NEAR_MS;
  const first = await find({ ...question, toMs: question.fromMs + nearMs }, signal);
  const latest = await find({ ...question, fromMs: question.toMs - nearMs }, signal);
  if (first.status === "failed") return { ...latest, isWhole: false };
  if (latest.status === "failed") return { ...first, isWhole: false };
  return { status: "answered", messages: [...first.messages, ...latest.messages], isWhole: false };
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
