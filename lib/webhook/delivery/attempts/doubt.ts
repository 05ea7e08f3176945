import type { DueRow } from "../../state/contract.ts";
import type { LookUpResult } from "./attempt.ts";

/** After so many sends without a clear answer a row is not sent again, unless the peer proves that it has it not. */
const MOST_UNCLEAR = 3;

/** The gateway writes down what it has sent after the send; so long after it began, a quick send can be looked up. */
export const KEPT_AFTER_MS = 5_000;

/** So long after its beginning no send is still on its way: the gateway waits a minute for WhatsApp at most. */
export const OVER_AFTER_MS = 65_000;

/** The code of a row that the peer may have taken, and that is not repeated. */
export const IN_DOUBT_CODE = "delivery_in_doubt";

/** Whether the peer may have taken a row in an earlier attempt. */
export function isInDoubt({ isUnsettled, unclear }: Pick<DueRow, "isUnsettled" | "unclear">): boolean {
  return isUnsettled || unclear > 0;
}

/** Whether something in front of the peer answered an earlier attempt in its place, which may have passed it on. */
export function isUnanswered({ unansweredForMs, text }: Pick<DueRow, "unansweredForMs" | "text">): boolean {
  return unansweredForMs !== null && text !== null;
}

/** Whether a row has to be looked up before it is sent again. */
export function mayHaveArrived(row: DueRow): boolean {
  return isInDoubt(row) || isUnanswered(row);
}

/**
 * Whether the text of a row may be made anew.
 *
 * Shape:     `answer` is that of the look-up before this attempt; null when none was made.
 * Behaviour: not while a copy with the old text may come to light: it is looked for by that text. After an outage none
 *            does once the peer, asked when no send could be on its way any more, had nothing.
 */
export function mayRenewText(row: DueRow, answer: LookUpResult | null): boolean {
  if (isInDoubt(row)) return false;
  if (!isUnanswered(row)) return true;
  return answer?.status === "not_found" && (row.unansweredForMs ?? 0) >= OVER_AFTER_MS;
}

/** Whether a row was sent so often without a clear answer that it must not be sent again. */
export function isTooUnclear({ unclear }: Pick<DueRow, "unclear">): boolean {
  return unclear >= MOST_UNCLEAR;
}
