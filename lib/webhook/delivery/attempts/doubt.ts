import type { DueRow } from "../../state/contract.ts";

/** After so many sends without a clear answer a row is not sent again. */
const MOST_UNCLEAR = 3;

/** The code of a row that the peer may have taken, and that is not repeated. */
export const IN_DOUBT_CODE = "delivery_in_doubt";

/** Whether the peer may have taken a row in an earlier attempt. */
export function isInDoubt({ isUnsettled, unclear }: Pick<DueRow, "isUnsettled" | "unclear">): boolean {
  return isUnsettled || unclear > 0;
}

/** Whether a row was sent so often without a clear answer that it must not be sent again. */
export function isTooUnclear({ unclear }: Pick<DueRow, "unclear">): boolean {
  return unclear >= MOST_UNCLEAR;
}
