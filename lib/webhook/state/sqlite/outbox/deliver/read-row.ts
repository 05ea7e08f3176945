import type { DatabaseSync } from "node:sqlite";
import type { DueRow, OutboxKind } from "../../../contract.ts";
import { storedAlert } from "../../../stored.ts";

/** The id of a row that is due and whose alert cannot be read. */
export type UnreadableRow = { unreadable: number };

/** Reads a row that is there as one that may be tried now. */
export type RowReader = (id: number, now: number) => DueRow | UnreadableRow;

/** Errors: those of SQLite. */
export function rowReader(db: DatabaseSync): RowReader {
  const find = db.prepare(`
    select kind, attempts, accepted_at_ms, tried_ms, is_repeat, claimed_at_ms, alert, text, is_unsettled, unclear,
      first_begun_at_ms, unanswered_at_ms,
      coalesce((select url from outbox as issue where issue.id = row.issue_row),
        (select value from dedup where key = 'issue:' || row.fingerprint and expires_at_ms > ?)) as issue_url
    from outbox as row where id = ?`);
  const members = db.prepare("select id from outbox where digest = ? order by id");
  return (id, now) => {
    const row = find.get(now, id) as Row;
    const alert = storedAlert(row.alert);
    if (alert === null) return { unreadable: id };
    const told = row.text === null ? [] : (members.all(id) as { id: number }[]).map((member) => member.id);
    return { id, alert, members: told, ...parseRow(row, now) };
  };
}

type Row = {
  kind: OutboxKind;
  attempts: number;
  accepted_at_ms: number;
  tried_ms: number;
  is_repeat: number;
  claimed_at_ms: number | null;
  alert: string | null;
  text: string | null;
  is_unsettled: number;
  unclear: number;
  first_begun_at_ms: number | null;
  unanswered_at_ms: number | null;
  issue_url: string | null;
};

// An attempt whose end was never recorded counts, and may have been taken by the peer.
function parseRow(row: Row, now: number): Omit<DueRow, "id" | "alert" | "members"> {
  return {
    kind: row.kind,
    attempts: row.attempts + row.is_unsettled,
    waitedMs: Math.max(0, now - row.accepted_at_ms),
    triedMs: row.tried_ms,
    isRepeat: row.is_repeat === 1,
    claimedAtMs: row.claimed_at_ms,
    issueUrl: row.issue_url,
    // As JSON: SQLite does not keep every text that JavaScript has.
    text: row.text === null ? null : (JSON.parse(row.text) as string),
    isUnsettled: row.is_unsettled === 1,
    unclear: row.unclear + row.is_unsettled,
    firstBegunAtMs: row.first_begun_at_ms,
    unansweredForMs: row.unanswered_at_ms === null ? null : Math.max(0, now - row.unanswered_at_ms),
  };
}
