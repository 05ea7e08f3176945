import type { Delivered, DueRow, OutboxKind } from "../../state/contract.ts";

/**
 * How one attempt ended.
 *
 * Shape: `delivered`; `retry`, to be tried again; `refused`, for good.
 */
export type AttemptResult = Delivered | Retry | { status: "refused"; code: string };

/**
 * An attempt that is made again later.
 *
 * Shape: `cause` is what lies behind the code, where that is something else. `stopsChannel`: the peer takes nothing
 *        from us, so every row waits until it does. `peerDown`: another row would fail now, too. `retryAfterMs`: how
 *        long the peer asked us to wait, or null. `unclear` when the peer may have taken it: after `knownAfterMs` a
 *        look-up can tell. `isLost` when the connection broke, so that the peer said nothing at all. `unanswered` when
 *        something in front of the peer answered in its place, after it had passed the request on or may have: an
 *        outage, after which the row is looked up as well.
 */
export type Retry = {
  status: "retry";
  code: string;
  cause?: string | undefined;
  stopsChannel: boolean;
  peerDown: boolean;
  retryAfterMs: number | null;
  unclear: { knownAfterMs: number; isLost?: true } | null;
  unanswered?: { knownAfterMs: number };
};

/** Tries to deliver a row once; never throws. */
export type Attempt = (row: DueRow, signal: AbortSignal) => Promise<AttemptResult>;

/**
 * What the peer says of a row that it may have taken.
 *
 * Shape: `absent` when it keeps what it sends and has no such message, which is asked only for a row that was sent too
 *        often without a clear answer; `unanswered` when it could not be asked now; `undecided` when it has a message of
 *        this text, and the state does not say whether that is another row's; `not_found` proves nothing.
 */
export type LookUpResult =
  | Delivered
  | { status: "absent" }
  | { status: "not_found" }
  | { status: "undecided" }
  | { status: "unanswered"; code: string };

/** Finds out whether the peer took a row in an earlier attempt. Never throws. */
export type LookUp = (row: DueRow, signal: AbortSignal) => Promise<LookUpResult>;

/** Why each channel is stopped: the code of the peer's refusal, or null while the channel is open. */
export type ChannelStops = Readonly<Record<OutboxKind, string | null>>;
