/**
 * What a run knows of one finished call: `good` has left a readable analysis, `no_analysis` was answered and has not;
 * the others are the application's `AnalysisFailure`.
 */
export type CallVerdict = "good" | "may_heal" | "refused" | "lasting" | "no_analysis";

/** One finished call: whose connection it was, and the code of what failed. */
export type JudgedCall = { owner: string; verdict: CallVerdict; code: string | null };

/**
 * Whether the application answers, judged by the calls of one run.
 *
 * Shape: `hasGood` says that the run has had a good call. The rest is about the calls since the last good one:
 *        `badInARow` counts those that count, `owners` and `codes` are theirs (no more than a decision needs), and
 *        `hasOthers` says that one of all of them failed in a way that does not heal.
 */
export type Breaker = {
  hasGood: boolean;
  isTripped: boolean;
  badInARow: number;
  owners: readonly string[];
  codes: readonly string[];
  hasOthers: boolean;
};

/** How many bad calls in a row trip the breaker. */
export const BAD_CALLS = 20;
/** Of how many owners they have to be: one owner with many connections is no outage. */
export const BAD_OWNERS = 10;

const NO_BAD_CALL = { isTripped: false, badInARow: 0, owners: [], codes: [], hasOthers: false };

/** The breaker of a run that has made no call. */
export const NEW_BREAKER: Breaker = { hasGood: false, ...NO_BAD_CALL };

/**
 * The breaker after one more call.
 *
 * Behaviour: a good call resets it, unless it `isStale`: begun before the run began to wait. A bad call counts when it
 *            may heal, and any other only until the run has had its first good call: quiet accounts and expired tokens
 *            stop no run.
 */
export function afterCall(breaker: Breaker, call: JudgedCall, { isStale = false } = {}): Breaker {
  if (call.verdict === "good") {
    return isStale ? { ...breaker, hasGood: true } : { hasGood: true, ...NO_BAD_CALL };
  }
  const mayHeal = call.verdict === "may_heal";
  const after = { ...breaker, hasOthers: breaker.hasOthers || !mayHeal };
  return mayHeal || !breaker.hasGood ? counted(after, call) : after;
}

function counted(breaker: Breaker, { owner, code }: JudgedCall): Breaker {
  const badInARow = breaker.badInARow + 1;
  const owners = withOneMore(breaker.owners, owner, BAD_OWNERS);
  const isTripped = badInARow >= BAD_CALLS && owners.length >= BAD_OWNERS;
  // Two are enough to know that they do not all say the same.
  const codes = withOneMore(breaker.codes, code ?? "", 2);
  return { ...breaker, isTripped, badInARow, owners, codes };
}

/** Whether all that failed since the last good call may heal: then a little patience may be worth it. */
export function mayHealSoon({ badInARow, hasOthers }: Breaker): boolean {
  return badInARow > 0 && !hasOthers;
}

/** The breaker without its bad calls: what comes is judged anew. */
export function startedAnew({ hasGood }: Breaker): Breaker {
  return { hasGood, ...NO_BAD_CALL };
}

function withOneMore(known: readonly string[], one: string, limit: number): readonly string[] {
  return known.length >= limit || known.includes(one) ? known : [...known, one];
}
