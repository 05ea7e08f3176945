import type { DatabaseSync } from "node:sqlite";
import type { Hold, OutboxKind } from "../../../contract.ts";
import type { Transaction } from "../transaction.ts";

/** Why each channel holds. */
export type Holds = {
  all(): Record<OutboxKind, Hold | null>;
  set(kind: OutboxKind, code: string | null): void;
};

type HoldsDependencies = { db: DatabaseSync; transaction: Transaction; nowMs: () => number };

/** Remembers holds; the same code again keeps the time since which it holds. */
export function holdsOn({ db, transaction, nowMs }: HoldsDependencies): Holds {
  const all = db.prepare("select kind, code, since_ms from holds");
  const set = db.prepare(`
    insert into holds (kind, code, since_ms) values (?, ?, ?)
    on conflict (kind) do update set code = excluded.code, since_ms = excluded.since_ms where code <> excluded.code`);
  const release = db.prepare("delete from holds where kind = ?");
  return {
    all() {
      const holds: Record<OutboxKind, Hold | null> = { message: null, issue: null, comment: null };
      for (const row of all.all() as { kind: OutboxKind; code: string; since_ms: number }[])
        holds[row.kind] = { code: row.code, sinceMs: row.since_ms };
      return holds;
    },
    set: (kind, code) =>
      void transaction(() => (code === null ? release.run(kind) : set.run(kind, code, nowMs()))),
  };
}
