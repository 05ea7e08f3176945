import { DatabaseSync } from "node:sqlite";

/**
 * The rows of a state file whose mark is wrong, and the faults that SQLite finds in its indexes: always none.
 *
 * Shape: the mark is on the oldest queued row of each kind and fingerprint, and on no other.
 */
export function wrongMarks(path: string): unknown[] {
  const db = new DatabaseSync(path, { readOnly: true });
  try {
    const rows = db
      .prepare("select id, kind, fingerprint, state, is_head from outbox not indexed order by id")
      .all() as { id: number; kind: string; fingerprint: string; state: string; is_head: number }[];
    const seen = new Set<string>();
    const wrong = rows.filter(({ kind, fingerprint, state, is_head }) => {
      const isHead = state === "queued" && !seen.has(`${kind} ${fingerprint}`);
      if (isHead) seen.add(`${kind} ${fingerprint}`);
      return is_head !== Number(isHead);
    });
    const found = db.prepare("pragma integrity_check").all() as { integrity_check: string }[];
    return [...wrong, ...found.filter(({ integrity_check }) => integrity_check !== "ok")];
  } finally {
    db.close();
  }
}
