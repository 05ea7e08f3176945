import type { Log } from "../../platform/log/log.ts";
import type { WebhookMetrics } from "../metrics/metrics.ts";
import type { AttemptEnd, DueRow, OutboxKind } from "../store/model.ts";
import type { AttemptResult } from "./attempt.ts";

/** The rows that one attempt is for, the one that is sent first; never empty. */
export type AttemptRows = readonly [DueRow, ...DueRow[]];

const ENDED_LINES = {
  dead: "An alert was not delivered; see opsctl webhook dead list",
  unknown: "An alert may have been delivered or not; see opsctl webhook dead list",
};

/**
 * Writes how an attempt ended into log and metrics; every alert of a digest counts.
 *
 * Shape: `result` is null after a look-up instead of an attempt; `tookMs` is how long it took.
 */
export function reportEnd(
  { kind, metrics, log }: { kind: OutboxKind; metrics: WebhookMetrics; log: Log },
  rows: AttemptRows,
  { end, result, tookMs }: { end: AttemptEnd; result: AttemptResult | null; tookMs: number },
): void {
  const [row, ...others] = rows;
  const members = others.length > 0 ? others.map(({ id }) => id) : row.members;
  const facts = {
    ...{ kind, row: row.id, fingerprint: row.alert.fingerprint, attempt: row.attempts + 1 },
    ...(members.length > 0 && { others: members }),
    ...("code" in end && { code: end.code, cause: result?.status === "retry" ? result.cause : undefined }),
  };
  // Of a repeated digest only the first alert is read: the others count as long as that one waited.
  const waits = [row.waitedMs, ...members.map((_, at) => others[at]?.waitedMs ?? row.waitedMs)];
  if (end.status === "delivered") {
    for (const waitedMs of waits) metrics.sent(kind, waitedMs + tookMs);
    log.info(result === null ? "An alert had arrived after all" : "Delivered an alert", facts);
    return;
  }
  if (result !== null) metrics.failed(kind, end.code);
  if (end.status === "dead") for (const _ of waits) metrics.dead(kind);
  if (end.status === "retry")
    log.warn("An alert could not be delivered yet", { ...facts, againInMs: end.delayMs });
  else log.error(ENDED_LINES[end.status], facts);
}

/** The name of what was thrown, for a log: its message may hold an address or a text. */
export function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}
