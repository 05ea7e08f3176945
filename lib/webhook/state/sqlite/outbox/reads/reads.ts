import type { DatabaseSync, StatementSync } from "node:sqlite";
import { type LatestRow, OUTBOX_KINDS, type OutboxKind } from "../../../contract.ts";

/** What can be read of the outbox. */
export type OutboxReads = {
  waitingMessages(most: number): number;
  begunWithin(kind: OutboxKind, ms: number): number;
  latest(fingerprint: string): Partial<Record<OutboxKind, LatestRow>>;
  deliveredBetween(newerThanMs: number, olderThanMs: number): string[];
  heldReferences(kind: OutboxKind, references: readonly string[]): ReadonlySet<string>;
};

/** How many of the newest rows are searched for those of a fingerprint. */
const NEWEST_ROWS = 50_000;
const MOST_DELIVERED = 500;

/** Reads the outbox through its indexes. */
export function outboxReads(db: DatabaseSync, nowMs: () => number): OutboxReads {
  const { waiting, begun, latest, delivered, held } = prepare(db);
  return {
    waitingMessages: (most) => Number(waiting.get(most)?.n ?? 0),
    begunWithin(kind, ms) {
      const now = nowMs();
      return Number(begun.get(now - ms, now, kind)?.n ?? 0);
    },
    latest(fingerprint) {
      const found: Partial<Record<OutboxKind, LatestRow>> = {};
      for (const kind of OUTBOX_KINDS) {
        const row = latest.get(fingerprint, kind) as LatestRow | undefined;
        if (row !== undefined) found[kind] = { ...row };
      }
      return found;
    },
    deliveredBetween(newerThanMs, olderThanMs) {
      const now = nowMs();
      const rows = delivered.all(now - newerThanMs, now - olderThanMs, MOST_DELIVERED);
      return (rows as { reference: string }[]).map(({ reference }) => reference);
    },
    heldReferences: (kind, references) =>
      new Set(references.filter((reference) => held.get(reference, kind) !== undefined)),
  };
}

function prepare(
  db: DatabaseSync,
): Record<"waiting" | "begun" | "latest" | "delivered" | "held", StatementSync> {
  return {
    waiting: db.prepare(`
      select count(*) as n from (
        select 1 from outbox
        where state = 'queued' and kind = 'message' and priority > 0 and digest is null limit ?)`),
    begun: db.prepare(
      "select count(*) as n from attempts where begun_at_ms > ? and begun_at_ms <= ? and kind = ?",
    ),
    // Read now and then, for a person: an index for it would cost every alert.
    latest: db.prepare(`
      select state as status, attempts, code, reference, url
      from (select * from outbox order by id desc limit ${NEWEST_ROWS})
      where fingerprint = ? and kind = ? limit 1`),
    delivered: db.prepare(`
      select reference from outbox
      where state = 'delivered' and ended_at_ms > ? and ended_at_ms <= ?
        and kind = 'message' and digest is null and reference is not null
      order by ended_at_ms desc, id desc limit ?`),
    held: db.prepare("select 1 from outbox where reference = ? and kind = ? limit 1"),
  };
}
