import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { KindStats, LatestRow, OutboxKind, OutboxStats } from "../../contract.ts";

/** What can be read of the outbox. */
export type OutboxReads = {
  stats(): OutboxStats;
  deliveredWithin(kind: OutboxKind, ms: number): number;
  latest(fingerprint: string): Partial<Record<OutboxKind, LatestRow>>;
};

/** How many of the newest rows are searched for those of a fingerprint. */
const NEWEST_ROWS = 50_000;

/** Reads the outbox through its indexes. */
export function outboxReads(db: DatabaseSync, nowMs: () => number): OutboxReads {
  const { queued, dead, delivered, latest } = prepare(db);
  return {
    deliveredWithin: (kind, ms) => Number(delivered.get(nowMs() - ms, kind)?.n ?? 0),
    stats() {
      const now = nowMs();
      const waiting = queued.all() as { kind: OutboxKind; n: number; bytes: number; oldest: number }[];
      const given = dead.all() as { kind: OutboxKind; n: number }[];
      const statsOf = (kind: OutboxKind): KindStats => {
        const row = waiting.find((one) => one.kind === kind);
        return {
          queued: row?.n ?? 0,
          dead: given.find((one) => one.kind === kind)?.n ?? 0,
          oldestQueuedAgeMs: row === undefined ? null : Math.max(0, now - row.oldest),
        };
      };
      const queuedBytes = waiting.reduce((sum, { bytes }) => sum + bytes, 0);
      return { message: statsOf("message"), issue: statsOf("issue"), queuedBytes };
    },
    latest(fingerprint) {
      const found: Partial<Record<OutboxKind, LatestRow>> = {};
      for (const kind of ["message", "issue"] as const) {
        const row = latest.get(fingerprint, kind) as LatestRow | undefined;
        if (row !== undefined) found[kind] = { ...row };
      }
      return found;
    },
  };
}

function prepare(db: DatabaseSync): Record<"queued" | "dead" | "delivered" | "latest", StatementSync> {
  return {
    queued: db.prepare(`
      select kind, count(*) as n, sum(bytes) as bytes, min(age_from_ms) as oldest
      from outbox where state = 'queued' group by kind`),
    dead: db.prepare("select kind, count(*) as n from outbox where state = 'dead' group by kind"),
    delivered: db.prepare(
      "select count(*) as n from outbox where state = 'delivered' and ended_at_ms > ? and kind = ?",
    ),
    // Read now and then, for a person: an index for it would cost every alert.
    latest: db.prepare(`
      select state as status, attempts, code, reference, url
      from (select * from outbox order by id desc limit ${NEWEST_ROWS})
      where fingerprint = ? and kind = ? limit 1`),
  };
}
