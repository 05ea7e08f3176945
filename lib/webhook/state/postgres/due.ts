import type postgres from "postgres";
import { DIGEST_LIMIT, type DueQuery, type DueRow, type OutboxKind } from "../contract.ts";
import { storedAlert } from "../stored.ts";
import { restoredOrNull } from "./stored-text.ts";

/** Rows that may be tried, and the ids of those whose alert cannot be read. */
export type FoundRows = { rows: DueRow[]; unreadable: number[] };

/** Rows after which a digest takes no further fingerprint: their alerts are in memory together. */
const DIGEST_ROWS = 1_000;

/** The rows that may be tried now; see `State.due`. */
export async function due(sql: postgres.Sql, kind: OutboxKind, query: DueQuery): Promise<FoundRows> {
  const { limit, except, issueGraceMs } = query;
  if (limit <= 0) return { rows: [], unreadable: [] };
  const found = await sql`
    select * from opsctl_state.due_rows(
      ${kind}::text, ${Number.isFinite(limit) ? limit : null}::bigint, ${JSON.stringify(except)}::text::json,
      ${issueGraceMs}::bigint)`;
  return readable(found, (row) => ({
    ...beginning(row, kind),
    attempts: row.attempts,
    triedMs: Number(row.tried_ms),
    claimedAtMs: numberOrNull(row.claimed_at),
    text: restoredOrNull(row.text),
    isUnsettled: row.is_unsettled,
    unclear: row.unclear,
    firstBegunAtMs: numberOrNull(row.first_begun_at),
    unansweredForMs: numberOrNull(row.unanswered_for_ms),
    members: row.members === null ? [] : (JSON.parse(row.members) as number[]).sort((a, b) => a - b),
  }));
}

/** The messages that one message may tell together; see `State.digestible`. */
export async function digestible(sql: postgres.Sql, except: readonly number[]): Promise<FoundRows> {
  const found = await sql`
    select * from opsctl_state.digestible(
      ${JSON.stringify(except)}::text::json, ${DIGEST_LIMIT}::bigint, ${DIGEST_ROWS}::bigint)`;
  return readable(found, (row) => beginning(row, "message"));
}

/** The other rows whose alerts a row tells; see `State.membersOf`. */
export async function membersOf(sql: postgres.Sql, row: number): Promise<FoundRows> {
  const found = await sql`select * from opsctl_state.members_of(${row}::bigint)`;
  return readable(found, (one) => beginning(one, "message"));
}

type Beginning = Omit<DueRow, "alert">;

/** What a row has before its first attempt. */
function beginning(row: postgres.Row, kind: OutboxKind): Beginning {
  return {
    id: Number(row.id),
    kind,
    waitedMs: Number(row.waited_ms),
    isRepeat: row.is_repeat,
    issueUrl: restoredOrNull(row.issue_url),
    attempts: 0,
    triedMs: 0,
    claimedAtMs: null,
    text: null,
    isUnsettled: false,
    unclear: 0,
    firstBegunAtMs: null,
    unansweredForMs: null,
    members: [],
  };
}

function readable(found: readonly postgres.Row[], parse: (row: postgres.Row) => Beginning): FoundRows {
  const rows: DueRow[] = [];
  const unreadable: number[] = [];
  for (const row of found) {
    const alert = storedAlert(row.alert);
    if (alert === null) unreadable.push(Number(row.id));
    else rows.push({ ...parse(row), alert });
  }
  return { rows, unreadable };
}

function numberOrNull(value: string | null): number | null {
  return value === null ? null : Number(value);
}
