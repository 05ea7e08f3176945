import { priorityOf } from "../alert/priority.ts";
import { type AttemptEnd, type DueRow, GIVE_UP_MS } from "../store/model.ts";
import { backoffMs } from "./backoff.ts";

/** How one attempt ended: delivered, refused for good, or to be tried again. */
export type AttemptResult =
  | Extract<AttemptEnd, { status: "delivered" }>
  | { status: "refused"; code: string }
  | Retry;

/**
 * An attempt that is made again later.
 *
 * Shape: `cause` is the code behind `code`, where that is another. `fault` says what failed: this `row` alone; the
 *        `service`, so that the next row would fail now as well; or our `account`, so that every row waits until the
 *        service takes rows again. `retryAfterMs` is what the service asked for, or null. `arrival` is null when the row
 *        cannot have arrived; else a look-up can show it after `knownAfterMs`, and `isAmbiguous` when the service itself
 *        left it open.
 */
export type Retry = {
  status: "retry";
  code: string;
  cause?: string | undefined;
  fault: "row" | "service" | "account";
  retryAfterMs: number | null;
  arrival: { isAmbiguous: boolean; knownAfterMs: number } | null;
};

/** Tries to deliver a row once, a message with this text; throws only for a row that cannot be rendered. */
export type Attempt = (row: DueRow & { text: string }, signal: AbortSignal) => Promise<AttemptResult>;

/**
 * Asks the gateway for the ids of the messages with this text that it has sent since the first attempt with it.
 *
 * Shape:  empty when there is none, or when it is not known; a retry when the gateway cannot be asked now.
 * Errors: none thrown.
 */
export type LookUp = (
  sent: NonNullable<DueRow["sent"]>,
  signal: AbortSignal,
) => Promise<readonly string[] | Retry>;

/** After so many ambiguous attempts a row is not sent again. */
const MOST_AMBIGUOUS = 3;
/** A row waits so long for a gateway that answers no look-up; then it is sent. */
const LOOK_UP_PATIENCE_MS = 10 * 60_000;
/** A critical alert that cannot have arrived is due again as often as a lane that is half open tries a row. */
const LONGEST_CRITICAL_MS = 10_000;
/** So long a process has to run before it gives up a row. */
const GIVES_UP_AFTER_MS = 60 * 60_000;

/** How long an attempt or look-up took, and for how long this process runs. */
export type AttemptFacts = { tookMs: number; upMs: number; random: () => number };

/** An attempt that is made again later; see `Retry`. */
export function retry(
  code: string,
  fault: Retry["fault"],
  more: Partial<Pick<Retry, "cause" | "retryAfterMs" | "arrival">> = {},
): Retry {
  return { status: "retry", code, fault, retryAfterMs: null, arrival: null, ...more };
}

/**
 * What the result of an attempt means for its row.
 *
 * Behaviour: a row that was tried for 24 hours is dead, or unknown when it may have arrived. A refusal of our account
 *            is no trying: the row is free as soon as its lane is, and however often it meets the refusal, it counts as
 *            one ambiguous attempt at most. No issue or comment may have arrived: the tracker knows them by their id.
 */
export function endOfAttempt(row: DueRow, result: AttemptResult, facts: AttemptFacts): AttemptEnd {
  if (result.status === "delivered") return result;
  if (result.status === "refused") return { status: "dead", code: result.code };
  return endOfRetry(row, result, backoffMs(row.attempts + 1, facts.random), facts);
}

/**
 * What a look-up means for a row that may have arrived: its end, or null when it is to be sent again.
 *
 * Shape:     `found` is null when the gateway has no such message, as far as is known.
 * Behaviour: without an answer the row waits: ten minutes of trying where the gateway gives none, 24 hours where it must
 *            not be sent again or the state cannot say which ids are taken.
 */
export function endOfLookUp(
  row: DueRow,
  found: AttemptResult | null,
  facts: AttemptFacts,
): AttemptEnd | null {
  const isExhausted = row.ambiguous >= MOST_AMBIGUOUS;
  if (found === null) return isExhausted ? { status: "unknown", code: "send_unknown" } : null;
  if (found.status !== "retry") return endOfAttempt(row, found, facts);
  if (found.fault === "service" && !isExhausted && row.triedMs >= LOOK_UP_PATIENCE_MS) return null;
  // No attempt is counted, so the time of trying sets the pace: it doubles with each of these delays.
  return endOfRetry(row, found, backoffMs(1 + Math.log2(1 + row.triedMs / 1_000), facts.random), facts);
}

function endOfRetry(row: DueRow, result: Retry, waitMs: number, facts: AttemptFacts): AttemptEnd {
  const { code, fault, retryAfterMs } = result;
  const arrival = row.kind === "message" ? result.arrival : null;
  const mayHaveArrived = arrival !== null || row.sent !== null;
  const counts = arrival?.isAmbiguous === true && (fault !== "account" || row.ambiguous === 0);
  const again = { status: "retry", code, ambiguous: row.ambiguous + Number(counts), mayHaveArrived } as const;
  const knownAfterMs = arrival?.knownAfterMs ?? 0;
  if (fault === "account") return { ...again, delayMs: knownAfterMs, triedMs: row.triedMs };
  const triedMs = row.triedMs + Math.round(facts.tookMs);
  if (facts.upMs >= GIVES_UP_AFTER_MS && triedMs >= GIVE_UP_MS)
    return { status: mayHaveArrived ? "unknown" : "dead", code };
  const isUrgent = fault === "service" && !mayHaveArrived && priorityOf(row.alert) === 0;
  const backoff = isUrgent ? Math.min(waitMs, LONGEST_CRITICAL_MS) : waitMs;
  const delayMs = Math.max(backoff, retryAfterMs ?? 0, knownAfterMs);
  return { ...again, delayMs, triedMs: triedMs + delayMs };
}
