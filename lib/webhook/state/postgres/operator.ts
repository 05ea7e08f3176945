import type postgres from "postgres";
import { type DeadRow, ISSUE_TTL_MS, type QueuedRow, type State } from "../contract.ts";
import type { StateLink } from "./connection.ts";
import { restoredOrNull, restoredText } from "./stored-text.ts";

/** For the calls that an operator waits for. */
const PATIENT = { limitMs: 60_000 };
/** Rows changed in one call: while it runs, nothing is accepted. */
const ROWS_AT_ONCE = 1_000;

/**
 * What an operator does with rows that were given up, are in doubt, or wait.
 *
 * Behaviour: rows are changed a thousand at a time; a call that fails has changed those before.
 */
export function operatorCalls(
  link: StateLink,
): Pick<State, "listDead" | "retryDead" | "dropDead" | "listQueued" | "dropQueued"> {
  return {
    listDead: () => link.ask("list dead rows", listDead, PATIENT),
    retryDead: (rows) => inParts(link, "revive dead rows", rows ?? endedIds, retryDead),
    dropDead: (rows) => inParts(link, "remove dead rows", rows ?? endedIds, dropDead),
    listQueued: (limit) => link.ask("list waiting rows", (sql) => listQueued(sql, limit), PATIENT),
    dropQueued: (rows) => inParts(link, "remove waiting rows", rows ?? queuedIds, dropQueued),
  };
}

type Change = (sql: postgres.Sql, rows: string) => Promise<number>;

async function inParts(
  link: StateLink,
  attempt: string,
  rows: readonly number[] | ((sql: postgres.Sql) => Promise<number[]>),
  change: Change,
): Promise<number> {
  const ids = typeof rows === "function" ? await link.ask(attempt, rows, PATIENT) : rows;
  let changed = 0;
  for (let at = 0; at < ids.length; at += ROWS_AT_ONCE) {
    const part = JSON.stringify(ids.slice(at, at + ROWS_AT_ONCE));
    changed += await link.ask(attempt, (sql) => change(sql, part), PATIENT);
  }
  return changed;
}

async function endedIds(sql: postgres.Sql): Promise<number[]> {
  const rows = await sql`select id from opsctl_state.outbox where state in ('dead', 'in_doubt') order by id`;
  return rows.map(({ id }) => Number(id));
}

async function queuedIds(sql: postgres.Sql): Promise<number[]> {
  const rows = await sql`select id from opsctl_state.outbox where state = 'queued' order by id`;
  return rows.map(({ id }) => Number(id));
}

async function retryDead(sql: postgres.Sql, rows: string): Promise<number> {
  const [row] = await sql`
    select opsctl_state.retry_dead(${rows}::text::json, ${ISSUE_TTL_MS}::bigint)::int as count`;
  return row!.count;
}

async function dropDead(sql: postgres.Sql, rows: string): Promise<number> {
  const [row] = await sql`select opsctl_state.drop_dead(${rows}::text::json)::int as count`;
  return row!.count;
}

async function dropQueued(sql: postgres.Sql, rows: string): Promise<number> {
  const [row] = await sql`select opsctl_state.drop_queued(${rows}::text::json)::int as count`;
  return row!.count;
}

async function listDead(sql: postgres.Sql): Promise<DeadRow[]> {
  const rows = await sql`
    select id, kind, state, digest, alertname, fingerprint, squad, attempts, code, accepted_at, settled_at
    from opsctl_state.outbox where state in ('dead', 'in_doubt') order by id`;
  return rows.map((row) => ({
    ...rowFacts(row),
    status: row.state,
    code: restoredText(row.code),
    diedAt: instant(row.settled_at),
  }));
}

async function listQueued(sql: postgres.Sql, limit: number): Promise<QueuedRow[]> {
  const most = Number.isFinite(limit) ? limit : null;
  const rows = await sql`select * from opsctl_state.list_queued(${most}::bigint)`;
  return rows.map((row) => ({
    ...rowFacts(row),
    severity: severityOf(row.facts),
    code: restoredOrNull(row.code),
    nextAttemptAt: row.next_attempt_at === null ? null : instant(row.next_attempt_at),
  }));
}

function rowFacts(row: postgres.Row): Omit<DeadRow, "status" | "code" | "diedAt"> {
  return {
    id: Number(row.id),
    kind: row.kind,
    digest: row.digest === null ? null : Number(row.digest),
    alertname: restoredOrNull(row.alertname),
    fingerprint: restoredText(row.fingerprint),
    squad: row.squad,
    attempts: row.attempts,
    acceptedAt: instant(row.accepted_at),
  };
}

function severityOf(facts: string): string | null {
  try {
    const { severity } = JSON.parse(facts) as { severity?: unknown };
    return typeof severity === "string" ? severity : null;
  } catch {
    return null;
  }
}

function instant(ms: string): string {
  return new Date(Number(ms)).toISOString();
}
