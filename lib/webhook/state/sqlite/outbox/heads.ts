import type { DatabaseSync } from "node:sqlite";
import type { OutboxKind } from "../../contract.ts";

/** A row's kind, its fingerprint, and whether it is the oldest queued row of both. */
export type HeadFacts = { id: number; kind: OutboxKind; fingerprint: string; is_head: number };

/** Keeps the mark of the oldest queued row of each kind and fingerprint. */
export type Heads = {
  /** The row does not wait any more: the next one has its turn. */
  left(row: HeadFacts): void;
  /** Whether a row that waits again is the oldest; then the one that was has lost its mark. */
  returns(row: Omit<HeadFacts, "is_head">): boolean;
};

/** Marks in the caller's transaction. */
export function headsOn(db: DatabaseSync): Heads {
  const promote = db.prepare(`
    update outbox set is_head = 1 where id = (
      select id from outbox where state = 'queued' and is_head = 0 and kind = ? and fingerprint = ?
      order by id limit 1)`);
  const head = db.prepare(
    "select id from outbox where state = 'queued' and is_head = 1 and kind = ? and fingerprint = ?",
  );
  const unmark = db.prepare("update outbox set is_head = 0 where id = ?");
  return {
    left({ kind, fingerprint, is_head }) {
      if (is_head === 1) promote.run(kind, fingerprint);
    },
    returns({ id, kind, fingerprint }) {
      const oldest = head.get(kind, fingerprint) as { id: number } | undefined;
      if (oldest === undefined) return true;
      if (oldest.id < id) return false;
      unmark.run(oldest.id);
      return true;
    },
  };
}
