import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { OutboxKind } from "../../../contract.ts";

/** A row's kind and fingerprint: it stands in line with the other waiting rows of both. */
export type InLine = { id: number; kind: OutboxKind; fingerprint: string };

/** Where a row stands: the oldest of its line is the head, each other one has another ahead of it. */
export type Place = { is_head: number; ahead: number | null };

/** Keeps the waiting rows of each kind and fingerprint in line, in the order of their numbers. */
export type Heads = {
  /** The place of a row that will be newer than all others of its line. */
  end(kind: OutboxKind, fingerprint: string): Place;
  /** Remembers that a row stands in line, so that the next one is placed from there. */
  remember(row: InLine): void;
  /** The place of a row that waits again; the rows around it have made way. */
  join(row: InLine): Place;
  /** These rows do not wait any more: the next ones move up. */
  left(rows: readonly (InLine & Place)[]): void;
  /** Places the rows that a process of an older version added: it knows no lines. */
  placeStrays(): void;
};

/** How many lines' last places are remembered. */
const MOST_REMEMBERED = 20_000;

/**
 * Lines in the caller's transaction.
 *
 * Behaviour: a place costs the same however many rows stand in line: the last one is remembered, and looked at again
 *            before it is believed. Each transaction begins with `placeStrays`, so that all rows that wait are in line.
 */
export function headsOn(db: DatabaseSync): Heads {
  const statements = prepare(db);
  const remembered = new Map<string, number>();
  const remember = ({ id, kind, fingerprint }: InLine) => {
    if (remembered.size >= MOST_REMEMBERED) remembered.clear();
    remembered.set(`${kind} ${fingerprint}`, id);
  };
  const placeOf = (row: InLine): Place => {
    const { id, kind, fingerprint } = row;
    const head = (statements.head.get(kind, fingerprint) as { id: number } | undefined)?.id;
    if (head === undefined) return { is_head: 1, ahead: null };
    if (id < head) {
      statements.demote.run(id, head);
      return { is_head: 1, ahead: null };
    }
    const from = believed(statements, row, remembered.get(`${kind} ${fingerprint}`)) ?? head;
    return { is_head: 0, ahead: lastBefore(statements, id, from) };
  };
  return {
    end: (kind, fingerprint) => placeOf({ id: Number.MAX_SAFE_INTEGER, kind, fingerprint }),
    remember,
    join(row) {
      const place = placeOf(row);
      if (place.ahead !== null) statements.follow.run(row.id, place.ahead);
      remember(row);
      return place;
    },
    left: (rows) => leave(statements, rows),
    placeStrays: () => placeStrays(statements),
  };
}

type Statements = Record<
  "head" | "child" | "waits" | "stray" | "demote" | "follow" | "place" | "close" | "promote",
  StatementSync
>;

function prepare(db: DatabaseSync): Statements {
  const behind = "state = 'queued' and is_head = 0";
  return {
    // Told which index: the planner would rather walk along all that wait.
    head: db.prepare(
      "select id from outbox where state = 'queued' and is_head = 1 and kind = ? and fingerprint = ?",
    ),
    child: db.prepare(`select id from outbox indexed by outbox_behind where ${behind} and ahead = ?`),
    waits: db.prepare(
      "select 1 from outbox where id = ? and state = 'queued' and kind = ? and fingerprint = ?",
    ),
    stray: db.prepare(`
      select id, kind, fingerprint from outbox indexed by outbox_behind where ${behind} and ahead is null order by id limit 1`),
    demote: db.prepare("update outbox set is_head = 0, ahead = ? where id = ?"),
    follow: db.prepare(
      `update outbox indexed by outbox_behind set ahead = ?1 where ${behind} and ahead = ?2 and id > ?1`,
    ),
    place: db.prepare("update outbox set ahead = ? where id = ?"),
    close: db.prepare(`update outbox indexed by outbox_behind set ahead = ? where ${behind} and ahead = ?`),
    promote: db.prepare("update outbox set is_head = 1, ahead = null where id = ?"),
  };
}

function believed({ waits }: Statements, row: InLine, id: number | undefined): number | null {
  if (id === undefined || id >= row.id) return null;
  return waits.get(id, row.kind, row.fingerprint) === undefined ? null : id;
}

/** The last row of the line, from `from` on, that is older than the given one. */
function lastBefore({ child }: Statements, id: number, from: number): number {
  for (let at = from; ; ) {
    const next = child.get(at) as { id: number } | undefined;
    if (next === undefined || next.id > id) return at;
    at = next.id;
  }
}

function placeStrays(statements: Statements): void {
  for (;;) {
    const stray = statements.stray.get() as InLine | undefined;
    if (stray === undefined) return;
    const { id, kind, fingerprint } = stray;
    const head = statements.head.get(kind, fingerprint) as { id: number } | undefined;
    if (head === undefined) {
      statements.promote.run(id);
      continue;
    }
    const ahead = lastBefore(statements, id, head.id);
    statements.follow.run(id, ahead);
    statements.place.run(ahead, id);
  }
}

/** The youngest first: then each row that is left has a row ahead of it that has not been taken out yet. */
function leave(statements: Statements, rows: readonly (InLine & Place)[]): void {
  for (const row of [...rows].sort((a, b) => b.id - a.id)) {
    if (row.is_head === 0) statements.close.run(row.ahead, row.id);
    else {
      const next = statements.child.get(row.id) as { id: number } | undefined;
      if (next !== undefined) statements.promote.run(next.id);
    }
  }
}
