import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Begun } from "../../../contract.ts";

/** Records that an attempt of a row begins; false, with nothing changed, when it must not. */
export type Begin = (row: number, begun: Begun | null) => boolean;

/**
 * Begins attempts in the caller's transaction.
 *
 * Behaviour: an attempt that had begun and whose end was never recorded is counted as one whose end is unclear.
 */
export function beginner({ db, nowMs }: { db: DatabaseSync; nowMs: () => number }): Begin {
  const statements = prepare(db);
  return (row, begun) => {
    const { first, again, attempt, kind } = statements;
    const now = nowMs();
    if (begun === null) {
      if (again.run(row).changes === 0) return false;
    } else {
      const members = begun.members ?? [];
      if (!areNew(statements, [row, ...members])) return false;
      first.run(JSON.stringify(begun.text), now, Number(members.length > 0), row);
      for (const member of members) statements.tell.run(row, member);
    }
    const { kind: of } = kind.get(row) as { kind: string };
    attempt.run(of, now);
    return true;
  };
}

/** Whether all of these are different rows of one kind that wait and are in no text. */
function areNew({ waits }: Statements, rows: readonly number[]): boolean {
  const kinds = rows.map((row) => (waits.get(row) as { kind: string } | undefined)?.kind);
  return new Set(rows).size === rows.length && kinds.every((kind) => kind !== undefined && kind === kinds[0]);
}

type Statements = Record<"waits" | "first" | "again" | "tell" | "kind" | "attempt", StatementSync>;

function prepare(db: DatabaseSync): Statements {
  return {
    waits: db.prepare(
      "select kind from outbox where id = ? and state = 'queued' and text is null and digest is null",
    ),
    first: db.prepare(
      "update outbox set text = ?, first_begun_at_ms = ?, leads = ?, is_unsettled = 1 where id = ?",
    ),
    again: db.prepare(`
      update outbox set attempts = attempts + is_unsettled, unclear = unclear + is_unsettled, is_unsettled = 1
      where id = ? and state = 'queued' and text is not null and digest is null`),
    tell: db.prepare("update outbox set digest = ?, is_blocked = 1 where id = ?"),
    kind: db.prepare("select kind from outbox where id = ?"),
    attempt: db.prepare("insert into attempts (kind, begun_at_ms) values (?, ?)"),
  };
}
