import type { CallVerdict } from "./breaker.ts";

/** What is known when all calls of one owner have ended. */
export type OwnerFacts = {
  verdicts: readonly CallVerdict[];
  /** This is the second time that the run takes this owner. */
  isSecondChance: boolean;
  /** The run has had a good call. */
  hasGood: boolean;
  /** Owners are taken as usual: the run neither waits for the application nor confirms a refusal. */
  isFlowing: boolean;
  /** A failure that may heal says something of its connection, and not only that the application was away. */
  mayDecide: boolean;
  /** One more owner's answers may be remembered. */
  mayRemember: boolean;
};

/** Either the report is made with what there is, or the owner is put back; `remember`: with the answers. */
export type OwnerDecision = { status: "final" } | { status: "put_back"; remember: boolean };

/**
 * Whether one owner's report may be made: a completed report never changes again.
 *
 * Behaviour: put back while the application is away; when a call may heal, once, and again until it is known that the
 *            application works; once when no call of the run has been good yet, since nothing has proved that the
 *            application works at all.
 */
export function decideOwner(facts: OwnerFacts): OwnerDecision {
  const { verdicts, isSecondChance, hasGood, isFlowing, mayDecide, mayRemember } = facts;
  if (verdicts.every((verdict) => verdict === "good")) return { status: "final" };
  const mayHeal = verdicts.includes("may_heal");
  const remember = !hasGood && !mayHeal && mayRemember;
  if (!isFlowing) return { status: "put_back", remember };
  const hasAnotherChance = isSecondChance ? mayHeal && !mayDecide : mayHeal || remember;
  return hasAnotherChance ? { status: "put_back", remember } : { status: "final" };
}
