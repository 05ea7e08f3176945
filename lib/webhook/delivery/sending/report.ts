import type { Log } from "../../../platform/log/log.ts";
import type { WebhookMetrics } from "../../metrics/metrics.ts";
import type { OutboxKind, Settlement } from "../../state/contract.ts";
import type { ToldRows } from "../messages/message-texts.ts";

type Reported = { settlement: Settlement; cause: string | undefined; tookMs: number };

/**
 * Writes how a send was settled into log and metrics; every alert that it tells counts.
 *
 * Units: `tookMs` is how long the attempt took.
 */
export function reportSettlement(
  { kind, metrics, log }: { kind: OutboxKind; metrics: WebhookMetrics; log: Log },
  rows: ToldRows,
  { settlement, cause, tookMs }: Reported,
): void {
  const [row] = rows;
  const others = othersOf(rows);
  const facts = {
    kind,
    row: row.id,
    fingerprint: row.alert.fingerprint,
    attempt: row.attempts + 1,
    ...others,
  };
  if (settlement.status === "delivered") {
    for (const waitedMs of waits(rows)) metrics.sent(kind, waitedMs + tookMs);
    log.info("Delivered an alert", facts);
    return;
  }
  const { code } = settlement;
  switch (settlement.status) {
    case "retry":
      log.warn("An alert could not be delivered yet", {
        ...facts,
        code,
        cause,
        againInMs: settlement.delayMs,
      });
      return;
    case "in_doubt":
      log.error("An alert may have been delivered or not; see opsctl webhook dead list", { ...facts, code });
      return;
    case "dead":
      for (const _ of waits(rows)) metrics.dead(kind);
      log.error("Gave an alert up; see opsctl webhook dead list", { ...facts, code, cause });
  }
}

/** The other rows that the text of a row tells: known as rows at its first attempt, by their ids at every later one. */
function othersOf([{ members }, ...others]: ToldRows): { others?: readonly number[] } {
  const ids = others.length > 0 ? others.map(({ id }) => id) : members;
  return ids.length === 0 ? {} : { others: ids };
}

/** For how long each alert waited; at a later attempt all count as long as the first. */
function waits([row, ...others]: ToldRows): number[] {
  if (others.length > 0) return [row, ...others].map(({ waitedMs }) => waitedMs);
  return Array.from({ length: 1 + row.members.length }, () => row.waitedMs);
}
