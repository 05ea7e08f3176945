import type { ClaimedReport, Connection } from "../database/reports.ts";
import type { Turn } from "../outage/admission.ts";
import type { RememberedAnswers } from "../outage/put-back.ts";
import type { ThrottledCall } from "../outage/throttle.ts";

/** A report that this process has claimed, with the connections to collect and what is left of the lease. */
export type ReportInProgress = {
  report: ClaimedReport;
  connections: Connection[];
  leaseLeftMs(): number;
  turn: Turn;
  /** The run takes this owner for the second time. */
  isSecondChance: boolean;
  /** Answers that are kept from the turn before. */
  answers: RememberedAnswers | null;
  /** The call that the application throttled then. */
  throttled: ThrottledCall | null;
};
