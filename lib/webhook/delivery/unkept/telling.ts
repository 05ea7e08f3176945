import type { Alert } from "../../alert/alert.ts";
import { alertKey } from "../../alert/alert-key.ts";
import type { AlertAnswer } from "../../alert-answer.ts";
import type { AcceptedAlert, Delivered, DueRow, TriedBefore } from "../../state/contract.ts";
import { KEPT_AFTER_MS, mayHaveArrived } from "../attempts/doubt.ts";

/** What the answer to a post says of an alert's issue. */
export type IssueAnswer = Pick<AlertAnswer, "issue" | "issueId">;

/**
 * The message of an alert that no state keeps, until every post of it has been answered.
 *
 * Shape: `row` is what an attempt and a look-up need. `posts` of it wait for an answer. `taken` is there once the
 *        gateway took it, and so is `issue`; `kept` once the state keeps the alert, which tells it then. `ending`
 *        resolves to whether either is so; null while no attempt is wanted or on its way.
 */
export type Telling = {
  key: string;
  row: DueRow;
  posts: number;
  taken: Delivered | null;
  kept: AcceptedAlert | null;
  ending: Promise<boolean> | null;
  issue: Promise<IssueAnswer> | null;
  /** When an attempt ended that was answered in the gateway's place, on the monotonic clock. */
  unansweredAtMs: number | null;
  /** From when on, on the monotonic clock, the gateway can say whether it took the latest attempt. */
  knownAtMs: number;
  /** When it was wanted last, on the monotonic clock. */
  wantedAtMs: number;
};

/** The message of an alert that was not tried yet; `id` is negative, that of no row of the state. */
export function newTelling(alert: Alert, { id, wantedAtMs }: { id: number; wantedAtMs: number }): Telling {
  const row: DueRow = {
    id,
    kind: "message",
    alert,
    attempts: 0,
    waitedMs: 0,
    triedMs: 0,
    isRepeat: false,
    claimedAtMs: null,
    issueUrl: null,
    text: null,
    isUnsettled: false,
    unclear: 0,
    firstBegunAtMs: null,
    unansweredForMs: null,
    members: [],
  };
  const nothing = { ending: null, issue: null, unansweredAtMs: null, knownAtMs: wantedAtMs };
  return { key: alertKey(alert), row, posts: 0, taken: null, kept: null, ...nothing, wantedAtMs };
}

/** Whether a post still waits for an attempt. */
export function isWanted({ posts, kept }: Telling): boolean {
  return posts > 0 && kept === null;
}

/**
 * What the state is told of sends that may have arrived, when it begins to keep their alert; undefined without any.
 *
 * Behaviour: of what was taken, too: should the state not hear that, it is found.
 */
export function triedFor(
  { row, taken, unansweredAtMs, knownAtMs }: Telling,
  { nowMs, monotonicMs }: { nowMs: () => number; monotonicMs: () => number },
): TriedBefore | undefined {
  if (taken === null && !mayHaveArrived(row)) return undefined;
  const atMs = monotonicMs();
  return {
    text: row.text ?? "",
    attempts: row.attempts,
    unclear: row.unclear + Number(row.isUnsettled || taken !== null),
    begunForMs: Math.max(0, nowMs() - (row.firstBegunAtMs ?? 0)),
    unansweredForMs: unansweredAtMs === null ? null : atMs - unansweredAtMs,
    delayMs: Math.max(taken === null ? 0 : KEPT_AFTER_MS, knownAtMs - atMs),
  };
}
