import type postgres from "postgres";
import type { Progress } from "../../platform/log/progress.ts";
import type { SentEmails } from "../../providers/resend/sent-emails.ts";
import { requireActor } from "../reconcile.ts";
import { type Doubt, readDoubts } from "./doubt.ts";
import { lookUpEmails } from "./email.ts";
import { isNotSent } from "./evidence.ts";
import { type LookUp, lookUpOf, notLookedUp } from "./look-up.ts";
import { isUsable, settleFound } from "./settle.ts";
import { INTERRUPTED, notAsked, PeerPatience, type Verdict } from "./verdict.ts";
import { lookUpWhatsapp, type WhatsappSource } from "./whatsapp.ts";

/** What looking up needs; the source of a channel whose settings are missing is null. */
export type LookUpDependencies = {
  sql: postgres.Sql;
  whatsapp: WhatsappSource | null;
  email: SentEmails | null;
  /** Ends the asking; what was found until then is returned. */
  interrupt: AbortSignal;
  progress: Progress;
};

/** Which deliveries, null for all in doubt; `settleAs` names the person who records the findings, null for none. */
export type LookUpRequest = { ids: readonly string[] | null; settleAs: string | null };

type Conclude = (doubt: Doubt, verdict: Verdict) => Promise<void>;

/**
 * Asks the providers for evidence about deliveries in doubt; with `settleAs`, records what was found as `sent`.
 *
 * Behaviour: never sends, never concludes `failed`. What is found is recorded at once, so that an interruption loses
 *            nothing. Deliveries come back in the order of their dispatch.
 * Errors:    DELIVERY_NOT_FOUND, RECONCILE_INVALID for an invalid actor; those of the database.
 */
export async function lookUpDeliveries(
  dependencies: LookUpDependencies,
  { ids, settleAs }: LookUpRequest,
): Promise<LookUp[]> {
  const { sql, progress } = dependencies;
  if (settleAs !== null) requireActor(settleAs);
  const doubts = await readDoubts(sql, ids);
  progress.setTotal(doubts.length);
  const done = new Map<string, LookUp>();
  const keep = (lookUp: LookUp) => {
    done.set(lookUp.id, lookUp);
    progress.advance(1);
  };
  const conclude: Conclude = async (doubt, verdict) => {
    const isSettled = verdict.status === "found" && !isNotSent(verdict.evidence) && settleAs !== null;
    keep(
      lookUpOf(doubt, verdict, isSettled ? await settleFound(sql, doubt, verdict.evidence, settleAs) : null),
    );
  };
  for (const doubt of doubts.filter(({ state }) => state !== "unknown")) keep(notLookedUp(doubt));
  const open = doubts.filter(({ state }) => state === "unknown");
  const { whatsapp = [], email = [] } = Object.groupBy(open, ({ channel }) => channel);
  await concludeEmails(dependencies, email, conclude);
  await concludeWhatsapp(dependencies, whatsapp, conclude);
  return doubts.map(({ id }) => done.get(id)!);
}

async function concludeEmails(
  { sql, email: source, interrupt: signal }: LookUpDependencies,
  doubts: readonly Doubt[],
  conclude: Conclude,
): Promise<void> {
  if (doubts.length === 0) return;
  const verdictOf =
    source === null
      ? () => notAsked("email_not_configured")
      : await lookUpEmails({ sql, source, signal }, doubts);
  for (const doubt of doubts) await conclude(doubt, usable(doubt, verdictOf(doubt)));
}

async function concludeWhatsapp(
  { sql, whatsapp: source, interrupt: signal }: LookUpDependencies,
  doubts: readonly Doubt[],
  conclude: Conclude,
): Promise<void> {
  const patience = new PeerPatience();
  for (const doubt of doubts) {
    const verdict = await verdictOfWhatsapp({ sql, source, patience, signal }, doubt);
    const isCutOff = signal.aborted && verdict.status === "could_not_be_asked";
    await conclude(doubt, isCutOff ? INTERRUPTED : usable(doubt, verdict));
  }
}

async function verdictOfWhatsapp(
  {
    sql,
    source,
    patience,
    signal,
  }: { sql: postgres.Sql; source: WhatsappSource | null; patience: PeerPatience; signal: AbortSignal },
  doubt: Doubt,
): Promise<Verdict> {
  if (signal.aborted) return INTERRUPTED;
  if (source === null) return notAsked("gateway_not_configured");
  if (patience.code !== null) return notAsked(patience.code);
  return await lookUpWhatsapp({ sql, source, patience }, doubt, signal);
}

/** An id that the ledger would refuse is no evidence. */
function usable({ channel }: Doubt, verdict: Verdict): Verdict {
  if (verdict.status !== "found" || isUsable(verdict.evidence)) return verdict;
  return notAsked(channel === "email" ? "email_answer_unreadable" : "gateway_answer_unreadable");
}
