import type { Delivery } from "../delivery.ts";
import type { Doubt } from "./doubt.ts";
import { isNotSent } from "./evidence.ts";
import { instantText, type Settled } from "./settle.ts";
import type { Verdict } from "./verdict.ts";

/**
 * One looked-up delivery for the operator: ids and codes, never a number, an address or a text.
 *
 * Shape: `status` is the verdict's word, or `not_in_doubt` for a delivery that has its end. `code` says why nothing was
 *        found, why it is not unique, why the provider could not be asked, or that what was found is no proof of a
 *        send. `sentAt` is the provider's clock in UTC, `providerStatus` its last word about the message. `state` is
 *        the ledger's afterwards, null for an erased row; `settled` says whether this command changed it, `remark` what
 *        the ledger remarks on it then.
 */
export type LookUp = {
  id: string;
  channel: Doubt["channel"];
  week: string;
  tenantId: string;
  status: Verdict["status"] | "not_in_doubt";
  code: string | null;
  providerMessageId: string | null;
  sentAt: string | null;
  providerStatus: string | null;
  state: Delivery["state"] | null;
  settled: boolean;
  remark: string | null;
};

/** How many deliveries came to which end. */
export type LookUpCounts = {
  found: number;
  settled: number;
  notFound: number;
  notUnique: number;
  couldNotBeAsked: number;
  notInDoubt: number;
};

/** What was found out about a delivery, and what was recorded. */
export function lookUpOf(doubt: Doubt, verdict: Verdict, settled: Settled | null): LookUp {
  const evidence = verdict.status === "found" ? verdict.evidence : null;
  return {
    ...factsOf(doubt),
    status: verdict.status,
    code: codeOf(verdict),
    providerMessageId: evidence?.id ?? null,
    sentAt: evidence && instantText(evidence.sentAtMs),
    providerStatus: evidence?.providerStatus ?? null,
    ...(settled ?? { settled: false, state: doubt.state, remark: null }),
  };
}

function codeOf(verdict: Verdict): string | null {
  if (verdict.status !== "found") return verdict.code;
  return isNotSent(verdict.evidence) ? "evidence_not_sent" : null;
}

/** A delivery about which no provider was asked: it is not in doubt, or a run still works on it. */
export function notLookedUp(doubt: Doubt): LookUp {
  const isHeld = doubt.state === "running" || doubt.state === "pending";
  return {
    ...factsOf(doubt),
    status: isHeld ? "could_not_be_asked" : "not_in_doubt",
    code: isHeld ? "delivery_busy" : null,
    providerMessageId: null,
    sentAt: null,
    providerStatus: null,
    settled: false,
    state: doubt.state,
    remark: null,
  };
}

/** Counts them. */
export function countLookUps(lookUps: readonly LookUp[]): LookUpCounts {
  const having = (status: LookUp["status"]) => lookUps.filter((one) => one.status === status).length;
  return {
    found: having("found"),
    settled: lookUps.filter(({ settled }) => settled).length,
    notFound: having("not_found"),
    notUnique: having("not_unique"),
    couldNotBeAsked: having("could_not_be_asked"),
    notInDoubt: having("not_in_doubt"),
  };
}

function factsOf({
  id,
  channel,
  week,
  tenantId,
}: Doubt): Pick<LookUp, "id" | "channel" | "week" | "tenantId"> {
  return { id, channel, week, tenantId };
}
