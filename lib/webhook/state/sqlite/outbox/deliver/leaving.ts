import type { DatabaseSync } from "node:sqlite";
import type { OutboxKind } from "../../../contract.ts";

/** Removes a row, and every reference to it. */
export type Leaving = { remove(row: { id: number; kind: OutboxKind; fingerprint: string }): void };

/** Removes rows in the caller's transaction; the members of a removed text are rows of their own from then on. */
export function leavingRows(db: DatabaseSync): Leaving {
  const remove = db.prepare("delete from outbox where id = ?");
  const release = db.prepare("update outbox set digest = null where digest = ?");
  const forget = db.prepare(
    "update episodes set issue_row = null, claimed_at_ms = null where fingerprint = ? and issue_row = ?",
  );
  return {
    remove({ id, kind, fingerprint }) {
      remove.run(id);
      release.run(id);
      if (kind === "issue") forget.run(fingerprint, id);
    },
  };
}
