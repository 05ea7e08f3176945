import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { SqliteDedup } from "../../../../dedup/sqlite.ts";
import type { Alert } from "../../../alert/alert.ts";
import { type DeadRow, ISSUE_TTL_MS, type OutboxKind } from "../../contract.ts";
import { issueKey } from "../../stored.ts";
import type { Transaction } from "./transaction.ts";

/** Rows changed in one transaction: while it runs, the service cannot accept. */
const ROWS_AT_ONCE = 1_000;
/** Longer than the longest pause between two tries of a process that waits for the file. */
const PAUSE_MS = 120;

/** What an operator can do with dead rows; null means all of them. */
export type DeadRows = {
  list(): DeadRow[];
  retry(rows: readonly number[] | null): Promise<number>;
  drop(rows: readonly number[] | null): Promise<number>;
};

/**
 * The dead rows of an outbox.
 *
 * Behaviour: a dead issue is revived with a new claim; while its fingerprint has another claim it stays dead. Rows are
 *            changed a thousand at a time.
 * Errors:    those of SQLite; then the rows of earlier thousands are changed.
 */
export function deadRows(dependencies: {
  db: DatabaseSync;
  dedup: SqliteDedup;
  transaction: Transaction;
  nowMs: () => number;
}): DeadRows {
  const { db, dedup, transaction, nowMs } = dependencies;
  const statements = prepare(db);
  const idsOf = (rows: readonly number[] | null): readonly number[] =>
    rows ?? (statements.ids.all() as { id: number }[]).map(({ id }) => id);
  return {
    list: () => (statements.list.all() as ListedRow[]).map(parseDead),
    retry: (rows) =>
      inParts(transaction, idsOf(rows), (id) => revive({ statements, dedup, now: nowMs() }, id)),
    drop: (rows) => inParts(transaction, idsOf(rows), (id) => statements.drop.run(id).changes > 0),
  };
}

type Statements = Record<
  "ids" | "list" | "drop" | "find" | "backdate" | "head" | "setHead" | "revive",
  StatementSync
>;

function prepare(db: DatabaseSync): Statements {
  return {
    ids: db.prepare("select id from outbox where state = 'dead' order by id"),
    list: db.prepare(`
      select id, kind, fingerprint, attempts, code, accepted_at_ms, ended_at_ms, alert
      from outbox where state = 'dead' order by id`),
    drop: db.prepare("delete from outbox where id = ? and state = 'dead'"),
    find: db.prepare("select kind, fingerprint, claimed_at_ms from outbox where id = ? and state = 'dead'"),
    backdate: db.prepare("update dedup set claimed_at_ms = ? where key = ? and token = ?"),
    head: db.prepare(
      "select id from outbox where state = 'queued' and is_head = 1 and kind = ? and fingerprint = ?",
    ),
    setHead: db.prepare("update outbox set is_head = ? where id = ?"),
    revive: db.prepare(`
      update outbox set state = 'queued', is_head = ?, attempts = 0, next_attempt_at_ms = 0, age_from_ms = ?,
        claim_token = ?, code = null, ended_at_ms = null
      where id = ?`),
  };
}

async function inParts(
  transaction: Transaction,
  ids: readonly number[],
  change: (id: number) => boolean,
): Promise<number> {
  let changed = 0;
  for (let at = 0; at < ids.length; at += ROWS_AT_ONCE) {
    if (at > 0) await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    const part = ids.slice(at, at + ROWS_AT_ONCE);
    changed += transaction(() => part.filter(change).length);
  }
  return changed;
}

type ReviveDependencies = { statements: Statements; dedup: SqliteDedup; now: number };

function revive({ statements, dedup, now }: ReviveDependencies, id: number): boolean {
  const row = statements.find.get(id) as
    | { kind: OutboxKind; fingerprint: string; claimed_at_ms: number | null }
    | undefined;
  if (row === undefined) return false;
  let token: string | null = null;
  if (row.kind === "issue") {
    const key = issueKey(row.fingerprint);
    const claim = dedup.claim(key, ISSUE_TTL_MS);
    if (claim.status === "duplicate") return false;
    token = claim.token;
    // The issue's id is made of its first claim's time, and an earlier attempt may have created it under that id.
    statements.backdate.run(row.claimed_at_ms, key, token);
  }
  const head = statements.head.get(row.kind, row.fingerprint) as { id: number } | undefined;
  const isHead = head === undefined || id < head.id;
  if (isHead && head !== undefined) statements.setHead.run(0, head.id);
  statements.revive.run(isHead ? 1 : 0, now, token, id);
  return true;
}

type ListedRow = {
  id: number;
  kind: OutboxKind;
  fingerprint: string;
  attempts: number;
  code: string;
  accepted_at_ms: number;
  ended_at_ms: number;
  alert: string;
};

function parseDead({ alert, accepted_at_ms, ended_at_ms, ...row }: ListedRow): DeadRow {
  return {
    ...row,
    ...alertFacts(alert),
    acceptedAt: new Date(accepted_at_ms).toISOString(),
    diedAt: new Date(ended_at_ms).toISOString(),
  };
}

function alertFacts(text: string): { alertname: string | null; squad: string } {
  try {
    const { name, squad } = JSON.parse(text) as Alert;
    return { alertname: name, squad };
  } catch {
    return { alertname: null, squad: "geral" };
  }
}
