import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { SqliteDedup } from "../../../../../dedup/sqlite.ts";
import type { OutboxKind, Settlement } from "../../../contract.ts";
import { ISSUE_GIVEN_UP, issueKey, isUnanswered, shownAlert, storedAlert } from "../../../stored.ts";
import type { Load } from "../load.ts";
import { LONGEST_DELAY_MS } from "./due.ts";
import { type Heads, headsOn } from "./heads.ts";

/** What settling works with. */
export type SettleDependencies = { db: DatabaseSync; dedup: SqliteDedup; load: Load; nowMs: () => number };

/** Records what became of a row, and of the members of its text. */
export type Settle = (row: number, settlement: Settlement) => void;

/** Settles a row in the caller's transaction; a row that is not queued is left as it is. */
export function settler(dependencies: SettleDependencies): Settle {
  const { db, nowMs } = dependencies;
  const statements = prepare(db);
  const tools = { ...dependencies, statements, heads: headsOn(db) };
  return (id, settlement) => {
    const row = statements.queued.get(id) as Row | undefined;
    if (row === undefined) return;
    const members = row.text === null ? [] : (statements.members.all(id) as Row[]);
    const now = nowMs();
    if (isUnanswered(settlement))
      for (const one of [row, ...members]) statements.unanswered.run(Math.ceil(now), one.id);
    if (settlement.status === "retry")
      for (const one of [row, ...members]) retry(statements, one.id, settlement, now);
    else endAll({ ...tools, now }, [row, ...members], settlement);
  };
}

type Statements = Record<
  "queued" | "members" | "retry" | "unanswered" | "delivered" | "ended" | "unblock" | "comments" | "givenUp",
  StatementSync
>;

type Row = {
  id: number;
  kind: OutboxKind;
  fingerprint: string;
  is_head: number;
  ahead: number | null;
  claim_token: string | null;
  bytes: number;
  alert: string | null;
  text: string | null;
};

type Tools = SettleDependencies & { statements: Statements; heads: Heads; now: number };

function prepare(db: DatabaseSync): Statements {
  const columns = "id, kind, fingerprint, is_head, ahead, claim_token, bytes, alert, text";
  return {
    queued: db.prepare(`select ${columns} from outbox where id = ? and state = 'queued'`),
    members: db.prepare(`select ${columns} from outbox where digest = ? and state = 'queued' order by id`),
    retry: db.prepare(`
      update outbox set attempts = attempts + 1, next_attempt_at_ms = ?, code = ?, tried_ms = ?,
        unclear = unclear + ?, is_unsettled = 0
      where id = ?`),
    unanswered: db.prepare("update outbox set unanswered_at_ms = ? where id = ?"),
    delivered: db.prepare(`
      update outbox set state = 'delivered', is_head = 0, ahead = null, is_unsettled = 0, attempts = attempts + 1, code = null,
        reference = ?, url = ?, ended_at_ms = ?, shown = ?, alert = null, text = null
      where id = ?`),
    ended: db.prepare(`
      update outbox set state = ?, is_head = 0, ahead = null, is_unsettled = 0, attempts = attempts + ?, code = ?, ended_at_ms = ?
      where id = ?`),
    unblock: db.prepare("update outbox set is_blocked = 0 where issue_row = ? and state = 'queued'"),
    comments: db.prepare(
      `select ${columns} from outbox where issue_row = ? and state = 'queued' order by id`,
    ),
    givenUp: db.prepare("update detour set given_up = given_up + 1"),
  };
}

function retry(
  statements: Statements,
  id: number,
  settlement: Extract<Settlement, { status: "retry" }>,
  now: number,
): void {
  const { delayMs, code, triedMs, isUnclear } = settlement;
  const nextMs = Math.max(1, Math.ceil(now + Math.min(delayMs, LONGEST_DELAY_MS)));
  statements.retry.run(nextMs, code, Math.round(triedMs), Number(isUnclear), id);
}

/** How rows end; `untried`: not by an attempt of their own. */
type Ending = Exclude<Settlement, { status: "retry" }> & { untried?: true };

/** Ends rows; the next ones get their turn when all have ended, since one of these may be next to another. */
function endAll(tools: Tools, rows: readonly Row[], settlement: Ending): void {
  for (const row of rows) end(tools, row, settlement);
  tools.heads.left(rows);
}

function end(tools: Tools, row: Row, settlement: Ending): void {
  const { statements, load } = tools;
  if (settlement.status === "delivered") deliver(tools, row, settlement);
  else {
    const { status, code, untried = false } = settlement;
    statements.ended.run(status, Number(!untried), code, tools.now, row.id);
    if (settlement.status === "dead" && row.kind === "message") statements.givenUp.run();
    if (row.kind === "issue") endIssue(tools, row, settlement.status);
  }
  load.add(-1, -row.bytes);
}

function deliver(
  { dedup, statements, now }: Tools,
  row: Row,
  { reference, url }: Extract<Settlement, { status: "delivered" }>,
): void {
  const alert = row.kind === "message" ? storedAlert(row.alert) : null;
  const shown = alert === null ? null : JSON.stringify(shownAlert(alert));
  statements.delivered.run(reference, url, now, shown, row.id);
  if (row.kind !== "issue") return;
  const key = issueKey(row.fingerprint);
  if (row.claim_token !== null && url !== null) dedup.confirm(key, row.claim_token, { value: url });
  statements.unblock.run(row.id);
}

/** An issue that may exist keeps its claim, so that there is no second one. */
function endIssue(tools: Tools, { id, fingerprint, claim_token }: Row, status: "dead" | "in_doubt"): void {
  if (status === "dead" && claim_token !== null) tools.dedup.release(issueKey(fingerprint), claim_token);
  endAll(tools, tools.statements.comments.all(id) as Row[], {
    ...{ status: "dead", code: ISSUE_GIVEN_UP, untried: true },
  });
}
