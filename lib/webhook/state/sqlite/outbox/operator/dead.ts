import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { SqliteDedup } from "../../../../../dedup/sqlite.ts";
import { type DeadRow, ISSUE_TTL_MS, type OutboxKind } from "../../../contract.ts";
import { issueKey } from "../../../stored.ts";
import { type Heads, headsOn } from "../deliver/heads.ts";
import { type Leaving, leavingRows } from "../deliver/leaving.ts";
import { inParts } from "../in-parts.ts";
import type { Load } from "../load.ts";
import type { Transaction } from "../transaction.ts";
import { alertFacts, instantOf } from "./listed.ts";

/** What an operator can do with rows that were given up or are in doubt; null means all of them. */
export type DeadRows = {
  list(): DeadRow[];
  retry(rows: readonly number[] | null): Promise<number>;
  drop(rows: readonly number[] | null): Promise<number>;
};

/**
 * The rows of an outbox that were given up, and those in doubt.
 *
 * Behaviour: a row is revived with all others of its text. An issue is revived with a new claim; while its fingerprint
 *            has another claim it stays. Rows are changed a thousand at a time.
 * Errors:    those of SQLite; then the rows of earlier thousands are changed.
 */
export function deadRows(dependencies: {
  db: DatabaseSync;
  dedup: SqliteDedup;
  load: Load;
  transaction: Transaction;
  nowMs: () => number;
}): DeadRows {
  const { db, transaction } = dependencies;
  const statements = prepare(db);
  const leaving = leavingRows(db);
  const tools = { ...dependencies, statements, heads: headsOn(db) };
  const idsOf = (rows: readonly number[] | null): readonly number[] =>
    rows ?? (statements.ids.all() as { id: number }[]).map(({ id }) => id);
  return {
    list: () => (statements.list.all() as ListedRow[]).map(parseDead),
    retry: (rows) => inParts(transaction, idsOf(rows), (id) => reviveText(tools, id)),
    drop: (rows) => inParts(transaction, idsOf(rows), (id) => drop(statements, leaving, id)),
  };
}

const ENDED = "state in ('dead', 'in_doubt')";

type Statements = Record<
  "ids" | "list" | "find" | "textOf" | "ofText" | "backdate" | "revive" | "issueEnded",
  StatementSync
>;

function prepare(db: DatabaseSync): Statements {
  const columns = "id, kind, fingerprint, claim_token, claimed_at_ms, issue_row, bytes";
  return {
    ids: db.prepare(`select id from outbox where ${ENDED} order by id`),
    list: db.prepare(`
      select id, kind, state as status, digest, fingerprint, attempts, code, accepted_at_ms, ended_at_ms, alert
      from outbox where ${ENDED} order by id`),
    find: db.prepare(`select id, kind, fingerprint from outbox where id = ? and ${ENDED}`),
    textOf: db.prepare(`select coalesce(digest, id) as id from outbox where id = ? and ${ENDED}`),
    ofText: db.prepare(`
      select ${columns} from outbox where id = ?1 and ${ENDED}
      union all select ${columns} from outbox where digest = ?1 and ${ENDED} order by id`),
    backdate: db.prepare("update dedup set claimed_at_ms = ? where key = ? and token = ?"),
    revive: db.prepare(`
      update outbox set state = 'queued', is_head = ?, ahead = ?, attempts = 0, next_attempt_at_ms = 0, age_from_ms = ?,
        claim_token = ?, code = null, ended_at_ms = null, tried_ms = 0, unclear = 0, is_unsettled = 0,
        is_blocked = coalesce(
          (select issue.state <> 'delivered' from outbox as issue where issue.id = outbox.issue_row), 0)
      where id = ?`),
    issueEnded: db.prepare(`select 1 from outbox where id = ? and ${ENDED}`),
  };
}

type ReviveTools = {
  statements: Statements;
  heads: Heads;
  dedup: SqliteDedup;
  load: Load;
  nowMs: () => number;
};

type EndedRow = {
  id: number;
  kind: OutboxKind;
  fingerprint: string;
  claim_token: string | null;
  claimed_at_ms: number | null;
  issue_row: number | null;
  bytes: number;
};

/** Revives a row with all others of its text; returns how many. */
function reviveText(tools: ReviveTools, id: number): number {
  const { statements } = tools;
  const text = statements.textOf.get(id) as { id: number } | undefined;
  if (text === undefined) return 0;
  const rows = statements.ofText.all(text.id) as EndedRow[];
  return rows.filter((row) => revive(tools, row)).length;
}

function revive(tools: ReviveTools, row: EndedRow): boolean {
  const { statements, heads, load } = tools;
  if (row.issue_row !== null && statements.issueEnded.get(row.issue_row) !== undefined) return false;
  const token = row.kind === "issue" ? claimAgain(tools, row) : null;
  if (row.kind === "issue" && token === null) return false;
  const { is_head, ahead } = heads.join(row);
  statements.revive.run(is_head, ahead, tools.nowMs(), token, row.id);
  load.add(1, row.bytes);
  return true;
}

/** The token of an issue's claim, its own if still in force, or null while its fingerprint has another one. */
function claimAgain({ statements, dedup }: ReviveTools, row: EndedRow): string | null {
  const key = issueKey(row.fingerprint);
  const { claim_token: own } = row;
  if (own !== null && dedup.confirm(key, own, { ttlMs: ISSUE_TTL_MS })) return own;
  const claim = dedup.claim(key, ISSUE_TTL_MS);
  if (claim.status === "duplicate") return null;
  // The issue's id is made of its first claim's time, and an earlier attempt may have created it under that id.
  statements.backdate.run(row.claimed_at_ms, key, claim.token);
  return claim.token;
}

function drop({ find }: Statements, leaving: Leaving, id: number): number {
  const row = find.get(id) as { id: number; kind: OutboxKind; fingerprint: string } | undefined;
  if (row === undefined) return 0;
  leaving.remove(row);
  return 1;
}

type ListedRow = {
  id: number;
  kind: OutboxKind;
  status: DeadRow["status"];
  digest: number | null;
  fingerprint: string;
  attempts: number;
  code: string;
  accepted_at_ms: number;
  ended_at_ms: number;
  alert: string;
};

function parseDead({ alert, accepted_at_ms, ended_at_ms, ...row }: ListedRow): DeadRow {
  const { alertname, squad } = alertFacts(alert);
  return { ...row, alertname, squad, acceptedAt: instantOf(accepted_at_ms), diedAt: instantOf(ended_at_ms) };
}
