import type postgres from "postgres";
import { NO_SENDER_INSTANCE } from "../../providers/evolution/advice.ts";
import type { FindMessages, KeptMessage } from "../../providers/evolution/find-messages.ts";
import { recipientJids } from "../../providers/evolution/recipient-jids.ts";
import { maskPhone } from "../../text/mask.ts";
import { normalizePhone } from "../../text/phone.ts";
import { type Doubt, type Rival, readHolders, readPayload, readRivals } from "./doubt.ts";
import { askedTime, decideEvidence, type Evidence } from "./evidence.ts";
import { notAsked, type PeerPatience, type Verdict } from "./verdict.ts";

/** The text that a stored report is sent with, or the code of why there is none. */
export type RenderedText = { status: "rendered"; text: string } | { status: "failed"; code: string };

/** What looking up WhatsApp messages needs; `renderText` is the weekly run's own renderer. */
export type WhatsappSource = { find: FindMessages; renderText(payload: unknown): RenderedText };

type Answer = { status: "answered"; messages: KeptMessage[] } | { status: "failed"; code: string };

/**
 * Looks for the message of one delivery at the gateway: the recipient's, of the dispatch's time, with the very text.
 *
 * Behaviour: asks the gateway one question at a time, for each name under which it may keep the recipient. A recipient
 *            whose number is another one by now is not asked about.
 */
export async function lookUpWhatsapp(
  { sql, source, patience }: { sql: postgres.Sql; source: WhatsappSource; patience: PeerPatience },
  doubt: Doubt,
  signal: AbortSignal,
): Promise<Verdict> {
  const number = numberOf(doubt);
  if (number === null) return notAsked("recipient_changed");
  if (doubt.instanceName === null) return notAsked(NO_SENDER_INSTANCE.code);
  const rendered = source.renderText(await readPayload(sql, doubt.reportId));
  if (rendered.status === "failed") return notAsked(rendered.code);
  const answer = await askGateway(source.find, { doubt, number, patience, signal });
  if (answer.status === "failed") return notAsked(answer.code);
  const found = answer.messages.filter(({ text }) => text === rendered.text).map(evidenceOf);
  // Before the holders: a rival that gets its end between the two questions is seen by one of them.
  const rivals = found.length === 0 ? [] : await readRivals(sql, doubt);
  const holders = await readHolders(
    sql,
    found.map(({ id }) => id),
  );
  const verdict = decideEvidence(found, doubt, holders);
  if (verdict.status === "not_found")
    return { ...verdict, code: answer.messages.length > 0 ? "other_text_found" : "message_not_found" };
  if (verdict.status === "not_unique") return verdict;
  const isShared = await hasTwin(rivals, rendered.text, async ({ reportId }) =>
    source.renderText(await readPayload(sql, reportId)),
  );
  return isShared ? { status: "not_unique", code: "evidence_shared" } : verdict;
}

/** The number that was written to, as far as the ledger's mask can tell; null when it is another one by now. */
function numberOf({ recipient, maskedHint }: Pick<Doubt, "recipient" | "maskedHint">): string | null {
  const number = normalizePhone(recipient);
  return number !== null && maskPhone(number) === maskedHint ? number : null;
}

async function askGateway(
  find: FindMessages,
  {
    doubt,
    number,
    patience,
    signal,
  }: { doubt: Doubt; number: string; patience: PeerPatience; signal: AbortSignal },
): Promise<Answer> {
  const messages: KeptMessage[] = [];
  for (const remoteJid of recipientJids(number)) {
    const question = { instanceName: doubt.instanceName!, remoteJid, ...askedTime(doubt.dispatchedAtMs) };
    const search = await find(question, signal);
    patience.note(search);
    if (search.status === "failed") return search;
    messages.push(...search.messages);
  }
  return { status: "answered", messages };
}

/** WhatsApp's acknowledgements, the farthest first: the gateway keeps them in no order. */
const FARTHEST = ["PLAYED", "READ", "DELIVERY_ACK", "SERVER_ACK", "ERROR", "PENDING"];

function evidenceOf({ id, sentAtMs, statuses }: KeptMessage): Evidence {
  return { id, sentAtMs, providerStatus: FARTHEST.find((status) => statuses.includes(status)) ?? null };
}

/**
 * Whether another open delivery went to a number with the same end and with the same text: then the message may be
 * either's.
 *
 * Behaviour: a rival's number of today tells nothing about the one that was written to, of which the ledger keeps the
 *            end alone: an area code may have been corrected since. A text that cannot be made any more counts as the
 *            same.
 */
async function hasTwin(
  rivals: readonly Rival[],
  text: string,
  render: (rival: Rival) => Promise<RenderedText>,
): Promise<boolean> {
  for (const rival of rivals) {
    const rendered = await render(rival);
    if (rendered.status === "failed" || rendered.text === text) return true;
  }
  return false;
}
