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
    const { again, attempt, kind } = statements;
    const now = nowMs();
    const hasBegun =
      begun === null ? again.run(row).changes > 0 : beginWith(statements, { row, now, ...begun });
    if (!hasBegun) return false;
    const { kind: of } = kind.get(row) as { kind: string };
    attempt.run(of, now);
    return true;
  };
}

/** Gives a row its text: the first one with its members, a later one to the row and members that it has. */
function beginWith(
  statements: Statements,
  { row, now, text, members = [] }: Begun & { row: number; now: number },
): boolean {
  const { renew, first, tell } = statements;
  const stored = JSON.stringify(text);
  if (members.length === 0 && renew.run(stored, now, row).changes > 0) return true;
  if (!areNew(statements, [row, ...members])) return false;
  first.run(stored, now, Number(members.length > 0), row);
  for (const member of members) tell.run(row, member);
  return true;
}

/** Whether all of these are different rows that wait and are in no text; only messages are told together. */
function areNew({ waits }: Statements, rows: readonly number[]): boolean {
  const isAlone = Number(rows.length === 1);
  return new Set(rows).size === rows.length && rows.every((row) => waits.get(row, isAlone) !== undefined);
}

type Statements = Record<"waits" | "first" | "renew" | "again" | "tell" | "kind" | "attempt", StatementSync>;

function prepare(db: DatabaseSync): Statements {
  return {
    waits: db.prepare(`
      select 1 from outbox
      where id = ? and state = 'queued' and text is null and digest is null and (kind = 'message' or ?)`),
    first: db.prepare(
      "update outbox set text = ?, first_begun_at_ms = ?, unanswered_at_ms = null, has_members = ?, is_unsettled = 1 where id = ?",
    ),
    renew: db.prepare(`
      update outbox set text = ?, first_begun_at_ms = ?, unanswered_at_ms = null, is_unsettled = 1
      where id = ? and state = 'queued' and text is not null and digest is null and unclear = 0 and is_unsettled = 0`),
    again: db.prepare(`
      update outbox set attempts = attempts + is_unsettled, unclear = unclear + is_unsettled, is_unsettled = 1
      where id = ? and state = 'queued' and text is not null and digest is null`),
    tell: db.prepare("update outbox set digest = ? where id = ?"),
    kind: db.prepare("select kind from outbox where id = ?"),
    attempt: db.prepare("insert into attempts (kind, begun_at_ms) values (?, ?)"),
  };
}
