import type { DatabaseSync, StatementSync } from "node:sqlite";
import { type KindStats, OUTBOX_KINDS, type OutboxKind, type OutboxStats } from "../../../contract.ts";
import { schemaVersion } from "../../file/schema.ts";

/**
 * Counts what waits and what was given up, in a file of this or an older version; it is only read.
 *
 * Errors: those of SQLite.
 */
export function outboxStats(db: DatabaseSync, nowMs: () => number): () => OutboxStats {
  const { queued, ended, critical, reserve } = prepare(db);
  return () => {
    const now = nowMs();
    const waiting = queued.all() as QueuedCount[];
    const counts = ended.all() as EndedCount[];
    const ageMs = (fromMs: number | null) => (fromMs === null ? null : Math.max(0, now - fromMs));
    const statsOf = (kind: OutboxKind): KindStats => {
      const row = waiting.find((one) => one.kind === kind);
      const count = (state: string) => counts.find((one) => one.kind === kind && one.state === state)?.n ?? 0;
      return {
        queued: row?.n ?? 0,
        dead: count("dead"),
        inDoubt: count("in_doubt"),
        oldestQueuedAgeMs: ageMs(row?.oldest ?? null),
      };
    };
    return {
      ...(Object.fromEntries(OUTBOX_KINDS.map((kind) => [kind, statsOf(kind)])) as Record<
        OutboxKind,
        KindStats
      >),
      queuedBytes: waiting.reduce((sum, { bytes }) => sum + bytes, 0),
      oldestCriticalAgeMs: ageMs((critical.get() as { oldest: number | null }).oldest),
      reserveBytes: Number(reserve.get()?.bytes ?? 0),
    };
  };
}

/** The length of a value is read without the value. */
const RESERVE_BYTES = "select coalesce(sum(length(filling)), 0) as bytes from reserve";

type QueuedCount = { kind: OutboxKind; n: number; bytes: number; oldest: number };
type EndedCount = { kind: OutboxKind; state: string; n: number };

function prepare(db: DatabaseSync): Record<"queued" | "ended" | "critical" | "reserve", StatementSync> {
  const isOlder = schemaVersion(db) < 3;
  const ended = isOlder ? "state = 'dead'" : "state in ('dead', 'in_doubt')";
  return {
    queued: db.prepare(`
      select kind, count(*) as n, sum(bytes) as bytes, min(age_from_ms) as oldest
      from outbox where state = 'queued' group by kind`),
    ended: db.prepare(`select kind, state, count(*) as n from outbox where ${ended} group by kind, state`),
    critical: db.prepare(`
      select min(age_from_ms) as oldest from outbox
      where state = 'queued' and kind = 'message' and priority = 0`),
    reserve: db.prepare(isOlder ? "select 0 as bytes" : RESERVE_BYTES),
  };
}
