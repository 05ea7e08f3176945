/** What a failure says about its run; the higher, the more it tells. */
export const RANK = { failsNoRun: 0, heldElsewhere: 1, recipient: 2, other: 3 } as const;

/** One of the ranks. */
export type FailureRank = (typeof RANK)[keyof typeof RANK];

const BY_CODE: ReadonlyMap<string, FailureRank> = new Map([
  ["MONDAY_TOO_SHORT", RANK.failsNoRun],
  ["OWNERS_DROPPED", RANK.failsNoRun],
  // Another process has them and reports on them.
  ["report_busy", RANK.heldElsewhere],
  ["delivery_busy", RANK.heldElsewhere],
  // They wait for data that only the customer or the operator has.
  ["recipient_phone_missing", RANK.recipient],
  ["recipient_email_missing", RANK.recipient],
]);

/**
 * The rank of a failure: one connection's, which fails no run; what another process holds; a recipient without phone or
 * address; everything else.
 *
 * Behaviour: a summary with more failures than it can name keeps those of the highest rank, so that what it does not
 *            name is no worse than what it names.
 */
export function failureRank({ step, code }: { step: string; code: string }): FailureRank {
  if (step === "social") return code.startsWith("SOCIAL_") ? RANK.other : RANK.failsNoRun;
  return BY_CODE.get(code) ?? RANK.other;
}
