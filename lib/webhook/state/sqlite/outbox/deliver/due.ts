import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { DueQuery, DueRow, OutboxKind } from "../../../contract.ts";
import { type RowReader, rowReader, type UnreadableRow } from "./read-row.ts";

/**
 * The longest that a row waits for its next attempt, also when the clock was set back.
 *
 * Behaviour: as long as the longest pause between two attempts. A peer that asks for a longer one stops its channel for
 *            so long, and with it the row.
 */
export const LONGEST_DELAY_MS = 5 * 60_000;

/** How many more rows are looked at while issues wait for their messages. */
const WAITING_ISSUES_SEEN = 64;

/**
 * Of rows that were tried and may be again, those that have been due for longest are sorted, so many at most: at the
 * usual pace there are fewer.
 */
const SORTED = 256;

/** Every priority, the first first. */
const PRIORITIES = [0, 1, 2, 3] as const;

/** Finds the rows that may be tried now, and among them those that cannot be read, which must not block the others. */
export function dueFinder(
  db: DatabaseSync,
  nowMs: () => number,
): (kind: OutboxKind, query: DueQuery) => (DueRow | UnreadableRow)[] {
  const statements = prepare(db);
  const read: RowReader = rowReader(db);
  return (kind, query) => {
    const now = nowMs();
    const found: (DueRow | UnreadableRow)[] = [];
    for (const priority of PRIORITIES) {
      for (const id of candidates(statements, { kind, priority, now, ...query })) {
        if (found.length >= query.limit) return found;
        if (query.except.includes(id)) continue;
        if (kind === "issue" && statements.waits.get(id, now, query.issueGraceMs) !== undefined) continue;
        found.push(read(id, now));
      }
    }
    return found;
  };
}

type Statements = Record<"fresh" | "tried" | "waits", StatementSync>;

// Fresh rows come out of the index in order; those that were tried come in the order of their time, and have to be
// sorted.
function prepare(db: DatabaseSync): Statements {
  const heads = "from outbox where state = 'queued' and may_go = 1 and kind = ? and priority = ?";
  return {
    fresh: db.prepare(`select id ${heads} and next_attempt_at_ms = 0 order by id limit ?`),
    tried: db.prepare(`
      select id from (
        select id ${heads} and next_attempt_at_ms > ? and next_attempt_at_ms <= ?
        order by next_attempt_at_ms, id limit max(${SORTED}, ?5))
      order by id limit ?5`),
    waits: db.prepare(`
      select 1 from outbox as issue join outbox as message on message.id = issue.message_row
      where issue.id = ? and abs(? - issue.age_from_ms) < ?
        and message.state = 'queued' and message.attempts = 0`),
  };
}

function candidates(
  { fresh, tried }: Statements,
  query: DueQuery & { kind: OutboxKind; priority: number; now: number },
): number[] {
  const { kind, priority, now, limit, except, issueGraceMs } = query;
  const waiting = kind === "issue" && issueGraceMs > 0 ? WAITING_ISSUES_SEEN : 0;
  const most = limit + except.length + waiting;
  const rows = [
    ...fresh.all(kind, priority, most),
    ...tried.all(kind, priority, 0, now, most),
    // Rows so far ahead are there only when the clock was set back.
    ...tried.all(kind, priority, now + LONGEST_DELAY_MS, Number.MAX_SAFE_INTEGER, most),
  ] as { id: number }[];
  return rows
    .map(({ id }) => id)
    .sort((a, b) => a - b)
    .slice(0, most);
}
