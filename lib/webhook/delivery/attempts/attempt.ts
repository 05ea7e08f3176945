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
 * Shape: `cause` is what lies behind the code, where that is something else. `stopsChannel`: the peer takes nothing from
 *        us, so every row waits until it does. `peerDown`: another row would fail now, too. `retryAfterMs`: how long
 *        the peer asked us to wait, or null. `unclear` when the peer may have taken it: after `knownAfterMs` a look-up
 *        can tell.
 */
export type Retry = {
  status: "retry";
  code: string;
  cause?: string | undefined;
  stopsChannel: boolean;
  peerDown: boolean;
  retryAfterMs: number | null;
  unclear: { knownAfterMs: number } | null;
};

/** Tries to deliver a row once; never throws. */
export type Attempt = (row: DueRow, signal: AbortSignal) => Promise<AttemptResult>;

/** Finds out whether the peer took a row in an earlier attempt; null when that is not known. Never throws. */
export type LookUp = (row: DueRow, signal: AbortSignal) => Promise<Delivered | null>;

/** Why each channel is stopped: the code of the peer's refusal, or null while the channel is open. */
export type ChannelStops = Readonly<Record<OutboxKind, string | null>>;
