import type { DatabaseSync } from "node:sqlite";
import type { KindStats, LatestRow, OutboxKind, OutboxStats } from "../../state.ts";

/** What can be asked about the outbox without changing it. */
export type OutboxWatch = {
  stats(): OutboxStats;
  deliveredWithin(kind: OutboxKind, ms: number): number;
  latest(fingerprint: string): Partial<Record<OutboxKind, LatestRow>>;
};

/** Among how many of the newest rows those of one fingerprint are looked for. */
const NEWEST_ROWS = 50_000;

/** Answers questions about the outbox from its indexes. */
export function outboxWatch(db: DatabaseSync, nowMs: () => number): OutboxWatch {
  const queued = db.prepare(`
    select kind, count(*) as n, sum(bytes) as bytes, min(age_from_ms) as oldest
    from outbox where state = 'queued' group by kind`);
  const dead = db.prepare("select kind, count(*) as n from outbox where state = 'dead' group by kind");
  // Asked now and then by a person: an index for it would cost every alert.
  const latest = db.prepare(`
    select state, attempts, code, reference, url
    from (select * from outbox order by id desc limit ${NEWEST_ROWS})
    where fingerprint = ? and kind = ? limit 1`);
  const delivered = db.prepare(
    "select count(*) as n from outbox where state = 'delivered' and ended_at_ms > ? and kind = ?",
  );
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
