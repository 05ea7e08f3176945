import type { DeliveryCounts, Failure, Tally } from "../context/summary.ts";
import type { DeliveryChannel } from "./channel.ts";
import type { CompletedReport } from "./completed-report.ts";

/** Counts one delivery's outcome; with a code it is also kept among the run's failures. */
export type Count = (
  counter: keyof DeliveryCounts,
  code: string | null,
  facts?: Pick<Failure, "deliveryId" | "providerMessageId" | "cause">,
) => void;

/** Messages that were sent and that the ledger does not show: their ids have to be in the summary. */
const UNRECORDED: ReadonlySet<string> = new Set([
  "delivery_not_recorded",
  "delivery_claim_lost",
  "delivery_row_lost",
]);

/** The counter of one channel of one report. */
export function countInto(tally: Tally, channel: DeliveryChannel, { id, scope }: CompletedReport): Count {
  return (counter, code, facts) => {
    tally[channel.name][counter] += 1;
    if (code === null) return;
    const keep = UNRECORDED.has(code) ? tally.failFirst : tally.fail;
    keep({ step: channel.name, code, tenantId: scope.tenantId, reportId: id, ...facts });
  };
}
