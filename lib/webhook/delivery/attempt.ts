import type { DueRow } from "../state/state.ts";

/**
 * How one attempt ended.
 *
 * Shape: `failed` is tried again: `retryAfterMs` when the peer said when, `peerDown` when nothing else would fare better
 *        now, `holds` when the peer takes nothing from us and everything waits until it does again, `cause` what is
 *        behind the code where that is another. `refused` is for good.
 */
export type AttemptResult =
  | { status: "delivered"; reference: string | null; url: string | null }
  | Failed
  | { status: "refused"; code: string };

type Failed = {
  status: "failed";
  code: string;
  cause?: string | undefined;
  peerDown: boolean;
  holds: boolean;
  retryAfterMs: number | null;
};

/** Tries to deliver a row once; never throws. */
export type Attempt = (row: DueRow, signal: AbortSignal) => Promise<AttemptResult>;

/** How a row's attempt ended for those who wait for it; `unsettled` when the service stopped meanwhile. */
export type Ending = "delivered" | "failed" | "dead" | "unsettled";
