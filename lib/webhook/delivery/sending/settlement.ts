import { type DueRow, GIVE_UP_MS, type Settlement } from "../../state/contract.ts";
import type { AttemptResult, Retry } from "../attempts/attempt.ts";
import { isTooUnclear, OVER_AFTER_MS } from "../attempts/doubt.ts";
import { backoffMs } from "./backoff.ts";

/**
 * For how long a row was tried, and whether that may end it.
 *
 * Shape: `triedMs` is the whole time; `mayEnd` when this process has tried it often and long enough.
 */
export type Tried = { triedMs: number; mayEnd: boolean };

/**
 * What is recorded after an attempt.
 *
 * Shape:     `isRepeatable`: the peer knows a repetition by its id, so that no row of this kind is ever in doubt.
 * Behaviour: a row that was tried for 24 hours is dead, or in doubt when the peer may have taken it. A refusal that
 *            meets every row ends none, and counts as one unclear send at most, however often the row finds out about
 *            it. An outage ends a row as dead, also one that it left unanswered.
 */
export function decideSettlement(
  row: Pick<DueRow, "attempts" | "unclear">,
  result: AttemptResult,
  { tried, isRepeatable, random }: { tried: Tried; isRepeatable: boolean; random: () => number },
): Settlement {
  if (result.status === "delivered") return result;
  if (result.status === "refused") return { status: "dead", code: result.code };
  const { code, stopsChannel } = result;
  const isUnclear = !isRepeatable && result.unclear !== null && (!stopsChannel || row.unclear === 0);
  const unanswered = isRepeatable || result.unanswered === undefined ? {} : { isUnanswered: true };
  const { triedMs, mayEnd } = tried;
  if (!stopsChannel && mayEnd && triedMs >= GIVE_UP_MS) {
    const mayHaveArrived = !isRepeatable && (isUnclear || row.unclear > 0);
    return mayHaveArrived ? { status: "in_doubt", code } : { status: "dead", code, ...unanswered };
  }
  return { status: "retry", delayMs: delayOf(row, result, random), code, triedMs, isUnclear, ...unanswered };
}

function delayOf(row: Pick<DueRow, "attempts" | "unclear">, result: Retry, random: () => number): number {
  const knownAfterMs = knownAfter(row, result);
  if (result.stopsChannel) return knownAfterMs;
  return Math.max(backoffMs(row.attempts + 1, random), result.retryAfterMs ?? 0, knownAfterMs);
}

/** After how long a look-up can tell what became of the attempt. */
function knownAfter({ unclear }: Pick<DueRow, "unclear">, result: Retry): number {
  // What is looked up next time decides whether the row may be sent at all: no send may be on its way any more.
  const isDecisive = result.unclear?.isLost && isTooUnclear({ unclear: unclear + 1 });
  return isDecisive ? OVER_AFTER_MS : ((result.unclear ?? result.unanswered)?.knownAfterMs ?? 0);
}
