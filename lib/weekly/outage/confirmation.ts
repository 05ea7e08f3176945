import type { JudgedCall } from "./breaker.ts";

/**
 * Whether a refusal (401, 409) before any good call is meant for the worker itself: other owners are asked.
 *
 * Shape: `owners` got the answer `code`; `isContradicted` when one got another.
 */
export type Confirmation = { code: string; owners: readonly string[]; isContradicted: boolean };

/** The first owner and two others. */
const OWNERS_TO_ASK = 3;

/** The question after one more call, null while no call was refused; only for a run without a good call. */
export function afterAnswer(confirmation: Confirmation | null, call: JudgedCall): Confirmation | null {
  const { owner, verdict, code } = call;
  const refusal = verdict === "refused" ? code : null;
  if (confirmation === null)
    return refusal === null ? null : { code: refusal, owners: [owner], isContradicted: false };
  if (refusal !== confirmation.code) return { ...confirmation, isContradicted: true };
  const owners = confirmation.owners.includes(owner) ? confirmation.owners : [...confirmation.owners, owner];
  return { ...confirmation, owners };
}

/** What is known once no call is in flight. */
export function confirmationStep({
  owners,
  isContradicted,
}: Confirmation): "confirmed" | "refuted" | "ask_another" {
  if (isContradicted) return "refuted";
  return owners.length >= OWNERS_TO_ASK ? "confirmed" : "ask_another";
}
