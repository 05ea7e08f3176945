import type { Log } from "../../platform/log/log.ts";
import type { WebhookMetrics } from "../metrics/metrics.ts";
import type { AttemptEnd, OutboxKind } from "../store/model.ts";
import type { State } from "../store/outbox.ts";
import type { Attempt, LookUp } from "./attempt.ts";

/** A state whose rows are delivered while `isOurs` returns true. */
export type Source = { state: State; isOurs(): boolean };

/**
 * What the dispatcher touches.
 *
 * Shape: `sources` are all states whose rows are delivered; the durable one is ours while `isLeading`. `onEnded` is
 *        called with the end of an attempt and all rows of its text, once they are no longer in flight: null when
 *        none was made, or its end was not recorded. `nowMs` is the clock that people read.
 */
export type DispatcherParts = {
  durable: State;
  sources: () => readonly Source[];
  attempts: Record<OutboxKind, Attempt>;
  /** Looks for a message that may have arrived. */
  lookUp: LookUp;
  onEnded: (state: State, rows: readonly number[], end: AttemptEnd | null) => void;
  metrics: WebhookMetrics;
  log: Log;
  nowMs: () => number;
  monotonicMs: () => number;
  random: () => number;
  /** Ends sooner, and without an error, when the signal is aborted. */
  sleep: (ms: number, signal: AbortSignal) => Promise<void>;
};
