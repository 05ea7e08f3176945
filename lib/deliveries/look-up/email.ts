import type postgres from "postgres";
import type { KeptEmail, ListedEmail, SentEmails } from "../../providers/resend/sent-emails.ts";
import { type Doubt, readHolders } from "./doubt.ts";
import { type EmailCandidates, listCandidates, mayBeOf } from "./email-list.ts";
import { decideEvidence, type Evidence } from "./evidence.ts";
import { INTERRUPTED, notAsked, PeerPatience, type Verdict } from "./verdict.ts";

/** What looking up e-mails needs. */
export type EmailLookUp = { sql: postgres.Sql; source: SentEmails; signal: AbortSignal };

/** How many ids the ledger is asked about at a time. */
const IDS_AT_A_TIME = 1_000;

/**
 * Looks for the e-mails of all these deliveries at the provider, by the tag `delivery_id` that each carries.
 *
 * Behaviour: one list for all of them; of the e-mails that fit a delivery by time and mask, those that another delivery
 *            holds are left out and the others are read, one after the other. Returns the verdict on a delivery.
 */
export async function lookUpEmails(
  { sql, source, signal }: EmailLookUp,
  doubts: readonly Doubt[],
): Promise<(doubt: Doubt) => Verdict> {
  const candidates = await listCandidates(source, doubts, signal);
  const holders = await readAllHolders(sql, candidates.emails);
  const sought = new Set(doubts.map(({ id }) => id));
  const open = candidates.emails.filter(({ id }) => {
    const holder = holders.get(id);
    return holder === undefined || sought.has(holder);
  });
  const kept = await readEach(source, open, signal);
  return (doubt) => verdictOf(doubt, { ...candidates, emails: open }, { holders, kept, signal });
}

async function readAllHolders(
  sql: postgres.Sql,
  emails: readonly ListedEmail[],
): Promise<Map<string, string>> {
  const ids = emails.map(({ id }) => id);
  const holders = new Map<string, string>();
  for (let at = 0; at < ids.length; at += IDS_AT_A_TIME) {
    const some = await readHolders(sql, ids.slice(at, at + IDS_AT_A_TIME));
    for (const [id, holder] of some) holders.set(id, holder);
  }
  return holders;
}

/** Each e-mail as the provider keeps it; after a refusal, or three silences in a row, the rest has the same failure. */
async function readEach(
  source: Pick<SentEmails, "read">,
  emails: readonly ListedEmail[],
  signal: AbortSignal,
): Promise<Map<string, KeptEmail>> {
  const patience = new PeerPatience();
  const kept = new Map<string, KeptEmail>();
  for (const { id } of emails) {
    if (kept.has(id)) continue;
    const code = patience.code;
    const email: KeptEmail =
      code === null ? await source.read(id, signal) : { status: "failed", code, fault: "silent" };
    patience.note(email);
    kept.set(id, email);
  }
  return kept;
}

type Known = {
  holders: ReadonlyMap<string, string>;
  kept: ReadonlyMap<string, KeptEmail>;
  signal: AbortSignal;
};

/** An e-mail that fits and could not be read might be the delivery's: then nothing is proved. */
function verdictOf(
  doubt: Doubt,
  { emails, isCovered, code }: EmailCandidates,
  { holders, kept, signal }: Known,
): Verdict {
  if (!isCovered(doubt)) return signal.aborted ? INTERRUPTED : notAsked(code);
  const evidence: Evidence[] = [];
  for (const email of emails.filter((one) => mayBeOf(one, doubt))) {
    const read = kept.get(email.id)!;
    if (read.status === "failed") return signal.aborted ? INTERRUPTED : notAsked(read.code);
    if (read.deliveryId !== doubt.id) continue;
    evidence.push({ id: email.id, sentAtMs: email.createdAtMs, providerStatus: read.lastEvent });
  }
  const verdict = decideEvidence(evidence, doubt, holders);
  return verdict.status === "not_found" ? { ...verdict, code: "email_not_found" } : verdict;
}
