import type { DatabaseSync, StatementSync } from "node:sqlite";
import { DIGEST_LIMIT, type DueRow } from "../../../contract.ts";
import { rowReader, type UnreadableRow } from "./read-row.ts";

/** Once so many rows are found, no further fingerprint begins; a single one gives its oldest. */
const MOST_ROWS = 1_000;
const HEADS_AT_ONCE = 100;

/** Finds the messages that one message may tell together; see `State.digestible`. */
export type DigestFinder = (except: readonly number[]) => (DueRow | UnreadableRow)[];

/** Finds the other rows whose alerts a row tells, oldest first. */
export type MemberFinder = (row: number) => (DueRow | UnreadableRow)[];

/** Errors: those of SQLite. */
export function memberFinder(db: DatabaseSync, nowMs: () => number): MemberFinder {
  const read = rowReader(db);
  const find = db.prepare("select id from outbox where digest = ? and state = 'queued' order by id");
  return (row) => {
    const now = nowMs();
    return (find.all(row) as { id: number }[]).map(({ id }) => read(id, now));
  };
}

/** Errors: those of SQLite. */
export function digestFinder(db: DatabaseSync, nowMs: () => number): DigestFinder {
  const statements = prepare(db);
  const read = rowReader(db);
  return (except) => {
    const found: number[] = [];
    let fingerprints = 0;
    for (const { id: head } of heads(statements)) {
      const rows = statements.behind.all(head, MOST_ROWS) as WaitingRow[];
      if (!rows.every((row) => row.is_new === 1 && !except.includes(row.id))) continue;
      found.push(...rows.map(({ id }) => id));
      fingerprints += 1;
      if (fingerprints === DIGEST_LIMIT || found.length >= MOST_ROWS) break;
    }
    const now = nowMs();
    return found.map((id) => read(id, now));
  };
}

type WaitingRow = { id: number; is_new: number };

/** Heads that were never tried and are not critical, in the order in which they are due. */
function* heads({ fresh }: Statements): Generator<{ id: number }> {
  for (const priority of [1, 2, 3])
    for (let after = 0; ; ) {
      const rows = fresh.all(priority, after, HEADS_AT_ONCE) as { id: number }[];
      yield* rows;
      if (rows.length < HEADS_AT_ONCE) break;
      after = rows.at(-1)!.id;
    }
}

type Statements = Record<"fresh" | "behind", StatementSync>;

function prepare(db: DatabaseSync): Statements {
  return {
    fresh: db.prepare(`
      select id from outbox
      where state = 'queued' and may_go = 1 and is_head = 1 and kind = 'message' and priority = ?
        and next_attempt_at_ms = 0 and id > ?
      order by id limit ?`),
    behind: db.prepare(`
      with recursive line (id) as (
        select ?1
        union all
        select next.id from line join outbox as next
          on next.state = 'queued' and next.is_head = 0 and next.ahead = line.id
        limit ?2)
      select id, text is null and digest is null and priority > 0 as is_new
      from line join outbox using (id) order by id`),
  };
}
