import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { SqliteDedup } from "../../../../../dedup/sqlite.ts";
import type { OutboxKind, QueuedRow } from "../../../contract.ts";
import { issueKey } from "../../../stored.ts";
import { type Heads, headsOn } from "../deliver/heads.ts";
import { type Leaving, leavingRows } from "../deliver/leaving.ts";
import { inParts } from "../in-parts.ts";
import type { Load } from "../load.ts";
import type { Transaction } from "../transaction.ts";
import { alertFacts, instantOf } from "./listed.ts";

/** What an operator can do with rows that wait; null means all of them. */
export type QueuedRows = {
  list(limit: number): QueuedRow[];
  drop(rows: readonly number[] | null): Promise<number>;
};

/**
 * The rows of an outbox that wait.
 *
 * Behaviour: a dropped issue releases its claim, and its waiting comments go with it. Rows are removed a thousand at a
 *            time.
 * Errors:    those of SQLite; then the rows of earlier thousands are removed.
 */
export function queuedRows(dependencies: {
  db: DatabaseSync;
  dedup: SqliteDedup;
  load: Load;
  transaction: Transaction;
}): QueuedRows {
  const { db, transaction } = dependencies;
  const statements = prepare(db);
  const tools = { ...dependencies, statements, heads: headsOn(db), leaving: leavingRows(db) };
  const idsOf = (rows: readonly number[] | null): readonly number[] =>
    rows ?? (statements.ids.all() as { id: number }[]).map(({ id }) => id);
  return {
    list: (limit) => (statements.list.all(limit) as ListedRow[]).map(parseQueued),
    drop: (rows) => inParts(transaction, idsOf(rows), (id) => drop(tools, id)),
  };
}

type Statements = Record<"ids" | "list" | "find" | "comments", StatementSync>;

function prepare(db: DatabaseSync): Statements {
  return {
    ids: db.prepare("select id from outbox where state = 'queued' order by id"),
    list: db.prepare(`
      select id, kind, digest, fingerprint, attempts + is_unsettled as attempts, code, accepted_at_ms,
        next_attempt_at_ms, alert
      from outbox where state = 'queued'
      order by case kind when 'message' then 0 when 'issue' then 1 else 2 end, priority, id limit ?`),
    find: db.prepare(
      "select id, kind, fingerprint, is_head, ahead, claim_token, bytes from outbox where id = ? and state = 'queued'",
    ),
    comments: db.prepare(
      "select id, kind, fingerprint, is_head, ahead, claim_token, bytes from outbox where issue_row = ? and state = 'queued'",
    ),
  };
}

type Tools = { statements: Statements; heads: Heads; leaving: Leaving; dedup: SqliteDedup; load: Load };

type FoundRow = {
  id: number;
  kind: OutboxKind;
  fingerprint: string;
  is_head: number;
  ahead: number | null;
  claim_token: string | null;
  bytes: number;
};

function drop(tools: Tools, id: number): number {
  const row = tools.statements.find.get(id) as FoundRow | undefined;
  if (row === undefined) return 0;
  const comments = row.kind === "issue" ? (tools.statements.comments.all(id) as FoundRow[]) : [];
  removeAll(tools, [row, ...comments]);
  if (row.claim_token !== null) tools.dedup.release(issueKey(row.fingerprint), row.claim_token);
  return 1;
}

/** The next ones get their turn when all are gone, since one of these may be next to another. */
function removeAll({ leaving, heads, load }: Tools, rows: readonly FoundRow[]): void {
  for (const row of rows) {
    leaving.remove(row);
    load.add(-1, -row.bytes);
  }
  heads.left(rows);
}

type ListedRow = {
  id: number;
  kind: OutboxKind;
  digest: number | null;
  fingerprint: string;
  attempts: number;
  code: string | null;
  accepted_at_ms: number;
  next_attempt_at_ms: number;
  alert: string;
};

function parseQueued({ alert, accepted_at_ms, next_attempt_at_ms, ...row }: ListedRow): QueuedRow {
  return {
    ...row,
    ...alertFacts(alert),
    acceptedAt: instantOf(accepted_at_ms),
    nextAttemptAt: next_attempt_at_ms === 0 ? null : instantOf(next_attempt_at_ms),
  };
}
