import { DATABASE_FAILED } from "../../../providers/evolution/database-failure.ts";
import {
  type FindMessages,
  type KeptMessage,
  type MessageQuestion,
  type MessageSearch,
  TOO_MANY_MESSAGES,
} from "../../../providers/evolution/find-messages.ts";
import { recipientJids } from "../../../providers/evolution/recipient-jids.ts";
import type { DueRow, State } from "../../state/contract.ts";
import { type AskOnceDependencies, askOnce } from "./ask-once.ts";
import type { LookUp, LookUpResult } from "./attempt.ts";
import { isInDoubt, isTooUnclear } from "./doubt.ts";
import { findInParts } from "./find-in-parts.ts";
import { findToNumber } from "./find-to-number.ts";

/** How far the clocks of state and service may be ahead of the gateway's. */
const CLOCKS_DIFFER_MS = 60_000;
/** As far for what must not be overlooked: taken for absent, it would be sent again and again. */
const CLOCKS_FAR_APART_MS = 60 * 60_000;
/** How far they may be behind: a gateway whose clock is right keeps nothing of later than now. */
const BEHIND_MS = 24 * 60 * 60_000;
/** The longest time from one attempt of a row to the next, with the attempt. */
const BETWEEN_ATTEMPTS_MS = 6 * 60_000;
/** Around the first and the latest attempt: of such a time the gateway gives all messages, at need in parts. */
const NEAR_MS = 2 * 60_000;
/** Ids that rows of this process are just being given, and that the state does not have yet. */
const MOST_TAKEN = 1_000;
/** How far back another message is looked for that shows that the gateway keeps them: a flood fills a short time. */
const SPANS_MS = [5 * 60_000, 60 * 60_000, 24 * 60 * 60_000];
/**
 * Nothing of the question may have come through, nothing can be looked up now, or the service ends: the gateway will be
 * asked again.
 */
const AWAY: ReadonlySet<string> = new Set([
  DATABASE_FAILED,
  "gateway_aborted",
  "gateway_unreachable",
  "gateway_connection_lost",
  ...[502, 503, 504].map((status) => `gateway_http_${status}`),
]);

/** What a look-up at the gateway needs. */
export type LookUpDependencies = AskOnceDependencies & { heldReferences: State["heldReferences"] };

/**
 * Looks at the gateway for a message whose send ended without a clear answer.
 *
 * Behaviour: found is a message to the same number, since the row's first attempt, with the very text and an id that no
 *            other row has; of a long time with many messages only those near its ends are looked at. A message that
 *            WhatsApp gave back with an error does not count. The first question that the gateway does not answer is
 *            the last. A message is absent where the gateway shows all of the time, by its own clock, too: reckoned
 *            from a message that is known to be ours. A row that an outage left unanswered is asked for once, and is
 *            never absent.
 */
export function messageLookUp(dependencies: LookUpDependencies): LookUp {
  const taken = new Map<string, number>();
  return async (row, signal) => {
    const kept = isInDoubt(row)
      ? await keptSince(dependencies, row, signal)
      : await keptOfOutage(dependencies, row, signal);
    const same = kept.messages.filter((one) => one.text === row.text && !isReturned(one)).map(({ id }) => id);
    const free = await freeIds(dependencies, row, same);
    if (free === null) return { status: "undecided" };
    const id = free.find((one) => (taken.get(one) ?? row.id) === row.id);
    if (id === undefined)
      return await notFound(dependencies, row, { kept, hasSame: same.length > 0, signal });
    taken.set(id, row.id);
    if (taken.size > MOST_TAKEN) taken.delete(taken.keys().next().value!);
    return { status: "delivered", reference: id, url: null };
  };
}

/** Shape: `failure` is the code of the unanswered question, `isWhole` when all messages of the time are there. */
type Kept = { messages: KeptMessage[]; isWhole: boolean; failure: string | null };

async function keptOfOutage(
  dependencies: LookUpDependencies,
  row: DueRow,
  signal: AbortSignal,
): Promise<Kept> {
  const search = await askOnce(dependencies, row, signal);
  const isKnown = search.status === "answered";
  return isKnown
    ? { messages: search.messages, isWhole: true, failure: null }
    : { messages: [], isWhole: false, failure: search.code };
}

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
  const { fromMs, nowMs: latestMs } = timeOf(row, nowMs());
  const time = { instanceName: instance.name, fromMs, toMs: latestMs + BEHIND_MS };
  for (const remoteJid of recipientJids(phone)) {
    const search = await findAll(find, { ...time, remoteJid }, { firstMs: firstBegunAtMs, latestMs, signal });
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
  if (failure !== null && !isInDoubt(row)) return { status: "unanswered", code: failure };
  if (failure !== null)
    return AWAY.has(failure) ? { status: "unanswered", code: failure } : { status: "not_found" };
  // A message with the same text may be that of this row, although another row has its id.
  if (!isTooUnclear(row) || !kept.isWhole || hasSame) return { status: "not_found" };
  const ours =
    (await latestHeld(dependencies, kept.messages)) ?? (await heldBefore(dependencies, row, signal));
  const isAbsent = ours !== null && (await isProvedAbsent(dependencies, row, { ours, signal }));
  return { status: isAbsent ? "absent" : "not_found" };
}

/** The time in which a row's message may be, by the clocks of state and service. */
function timeOf(row: DueRow, serviceMs: number): { fromMs: number; nowMs: number } {
  const firstMs = row.firstBegunAtMs ?? serviceMs;
  const differMs = isTooUnclear(row) ? CLOCKS_FAR_APART_MS : CLOCKS_DIFFER_MS;
  return { fromMs: firstMs - differMs, nowMs: Math.max(serviceMs, firstMs) };
}

/** The latest message of before the row's first attempt that the gateway keeps and that is known to be ours. */
async function heldBefore(
  dependencies: LookUpDependencies,
  { firstBegunAtMs }: DueRow,
  signal: AbortSignal,
): Promise<KeptMessage | null> {
  if (firstBegunAtMs === null) return null;
  for (const spanMs of SPANS_MS) {
    const time = { fromMs: firstBegunAtMs - spanMs, toMs: firstBegunAtMs };
    const found = await findOfAll(dependencies, time, signal);
    const held = found === null ? null : await latestHeld(dependencies, found);
    if (held !== null) return held;
  }
  return null;
}

/**
 * Whether the gateway has no message with the row's text since the time of one of ours, less the time in which the row
 * was tried: whichever of both was sent first, the row's own is not older by the gateway's clock, however wrong ours
 * are.
 */
async function isProvedAbsent(
  dependencies: LookUpDependencies,
  row: DueRow,
  { ours, signal }: { ours: KeptMessage; signal: AbortSignal },
): Promise<boolean> {
  const { fromMs, nowMs } = timeOf(row, dependencies.nowMs());
  // Set back since, the clock says too little.
  const triedMs = Math.max(nowMs - (row.firstBegunAtMs ?? nowMs), row.triedMs + BETWEEN_ATTEMPTS_MS);
  const sinceMs = ours.sentAtMs - triedMs - CLOCKS_DIFFER_MS;
  if (sinceMs >= fromMs) return true;
  const older = await findOfAll(dependencies, { fromMs: sinceMs, toMs: fromMs }, signal);
  return older?.every(({ text }) => text !== row.text) ?? false;
}

/** What the gateway keeps of a time; null when some of it is not known. */
async function findOfAll(
  { find, findInstance, phone }: LookUpDependencies,
  time: Pick<MessageQuestion, "fromMs" | "toMs">,
  signal: AbortSignal,
): Promise<KeptMessage[] | null> {
  const instance = await findInstance(signal);
  if (instance.status !== "found") return null;
  const search = await findToNumber(find, { instanceName: instance.name, phone, ...time }, signal);
  return search.status === "failed" ? null : search.messages;
}

async function latestHeld(
  { heldReferences }: LookUpDependencies,
  messages: readonly KeptMessage[],
): Promise<KeptMessage | null> {
  if (messages.length === 0) return null;
  const ids = messages.map(({ id }) => id);
  const held = await heldReferences("message", ids).catch(() => new Set<string>());
  const ours = messages.filter(({ id }) => held.has(id));
  return ours.sort((a, b) => b.sentAtMs - a.sentAtMs)[0] ?? null;
}

type WholeSearch = MessageSearch & { isWhole: boolean };

/** All messages of the time; where that are too many, those near the first and the latest attempt. */
async function findAll(
  find: FindMessages,
  question: MessageQuestion,
  { firstMs, latestMs, signal }: { firstMs: number; latestMs: number; signal: AbortSignal },
): Promise<WholeSearch> {
  const all = await find(question, signal);
  if (all.status === "answered" || all.code !== TOO_MANY_MESSAGES) return { ...all, isWhole: true };
  const ofFirst = { fromMs: firstMs - CLOCKS_DIFFER_MS, toMs: firstMs + NEAR_MS };
  const first = await findInParts(find, { ...question, ...ofFirst }, signal);
  const latest = await findInParts(find, { ...question, fromMs: latestMs - NEAR_MS }, signal);
  if (first.status === "failed") return { ...latest, isWhole: false };
  if (latest.status === "failed") return { ...first, isWhole: false };
  return { status: "answered", messages: [...first.messages, ...latest.messages], isWhole: false };
}

/**
 * The ids that no other row has.
 *
 * Behaviour: null while the state cannot say which are held. For what is sent from memory all are free then: whoever has
 *            the id, this very text is on the phone.
 */
async function freeIds(
  { heldReferences }: LookUpDependencies,
  { id: row }: DueRow,
  ids: readonly string[],
): Promise<readonly string[] | null> {
  if (ids.length === 0) return [];
  try {
    const held = await heldReferences("message", ids);
    return ids.filter((id) => !held.has(id));
  } catch {
    return row < 0 ? ids : null;
  }
}

/** WhatsApp's error after the gateway took it, and no word that it arrived all the same. */
function isReturned({ statuses }: KeptMessage): boolean {
  const arrived = ["SERVER_ACK", "DELIVERY_ACK", "READ", "PLAYED"];
  return statuses.includes("ERROR") && !arrived.some((status) => statuses.includes(status));
}
