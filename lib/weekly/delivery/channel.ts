import type { RateLimiter } from "../../platform/rate/rate-limiter.ts";
import type { SendOutcome } from "../../providers/send-outcome.ts";
import type { ChannelStop } from "../context/channel-stop.ts";
import type {
  ClaimedDelivery,
  DeliveryChannelName,
  DeliveryClaim,
  DeliveryResult,
  GrantedClaim,
  Settled,
} from "../database/deliveries.ts";
import type { Scope } from "../database/recipients.ts";
import type { ClaimedReport, ReportContent } from "../database/reports.ts";
import type { Payload } from "../payload.ts";
import type { AwaySender } from "./away-sender.ts";
import type { Doubts } from "./doubts.ts";

/** How many doubts in a row stop a channel: each has to be looked up by a person. */
export const DOUBTS_BEFORE_STOP = 10;

/** One way of reaching an owner: who sends, how it is claimed, how it is addressed. */
export type DeliveryChannel = {
  name: DeliveryChannelName;
  /** Left out by a flag: nothing is claimed, nothing counts as a failure. */
  leftOut: boolean;
  senderTenantId: string | null;
  senderMissingCode: "sender_tenant_missing" | "email_sender_tenant_missing";
  /** Stopped when the provider refuses the whole channel, or does not answer: no further sends in this run. */
  stop: ChannelStop;
  /** The deliveries that ended in doubt, in a row; no more begin than there is room for. */
  doubts: Doubts;
  /** How many in a row ended in doubt, without an answer, or throttled after all repeats. */
  fruitlessInARow: number;
  /** How long its sender has been away. */
  awaySender: AwaySender;
  /** Longest time that one send can take. */
  sendTimeoutMs: number;
  rate: RateLimiter;
  /** Asked again with the same token, it returns the same claim. */
  claim(reportId: string, scope: Scope, senderTenantId: string, claimToken: string): Promise<DeliveryClaim>;
  /** The same claim, in one round trip with the storing of its report. */
  persistAndClaim?(
    report: ClaimedReport,
    content: ReportContent,
    senderTenantId: string,
    claimToken: string,
  ): Promise<{ payload: unknown; claim: DeliveryClaim }>;
  /** The same claim, in one round trip with the confirmation of the report's delivery before it. */
  settleAndClaim?(
    settling: { delivery: ClaimedDelivery; result: DeliveryResult },
    reportId: string,
    scope: Scope,
    senderTenantId: string,
    claimToken: string,
  ): Promise<{ settled: Settled; claim: DeliveryClaim }>;
  prepare(claim: GrantedClaim, payload: Payload, signal: AbortSignal): Promise<Prepared>;
};

/** A delivery that can be addressed, or the code of what is missing. */
export type Prepared = ReadyDelivery | ({ status: "failed"; code: string } & FailureFacts);

/** A delivery that can be sent; `maskedHint` is what the ledger keeps of the address. */
export type ReadyDelivery = {
  status: "ready";
  maskedHint: string;
  send(signal: AbortSignal): Promise<SendOutcome>;
};

/** What is known of a failure beside its code. */
export type FailureFacts = {
  /** It concerns every delivery of the channel. */
  stopsChannel?: boolean | undefined;
  /** It came before the message was handed over, so it says nothing of how the provider answers. */
  beforeSend?: boolean | undefined;
  /** The provider was asked and did not answer in time. */
  timedOut?: boolean | undefined;
  /** The sender was looked at, and may be back in a moment. */
  isPassing?: boolean | undefined;
  /** The provider still asked for patience after all repeats. */
  throttled?: boolean | undefined;
  /** What is behind a code that has several causes. */
  cause?: string | undefined;
};

/** The outcome of one delivery; a throttled one has failed by then. */
export type DeliveryOutcome = Exclude<SendOutcome, { status: "throttled" }> & FailureFacts;
