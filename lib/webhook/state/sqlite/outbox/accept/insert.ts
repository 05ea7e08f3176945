import type { DatabaseSync } from "node:sqlite";
import type { Alert } from "../../../../alert/alert.ts";
import { isUrgent, priorityOf } from "../../../stored.ts";
import { headsOn } from "../deliver/heads.ts";
import type { Load } from "../load.ts";
import type { NewestIssue } from "./episodes.ts";

/** A row to add: an issue with its message's row and its claim, a comment with its issue. */
export type NewRow = { alert: Alert; text: string; now: number; isRepeat: boolean } & (
  | { kind: "message" }
  | { kind: "issue"; messageRow: number; claim: { token: string; claimedAtMs: number } }
  | { kind: "comment"; issue: NewestIssue }
);

/** Adds a row to the outbox and returns its number. */
export type Insert = (row: NewRow) => number;

/** Adds rows in the caller's transaction; a comment is blocked until its issue is delivered. */
export function inserter(db: DatabaseSync, load: Load): Insert {
  const insert = db.prepare(`
    insert into outbox (kind, fingerprint, priority, accepted_at_ms, bytes, alert, is_repeat, is_urgent, message_row,
      claim_token, claimed_at_ms, issue_row, is_blocked, state, age_from_ms, is_head, ahead)
    values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12,
      coalesce((select state <> 'delivered' from outbox where id = ?12), 0), 'queued', ?4, ?13, ?14)`);
  const heads = headsOn(db);
  return (row) => {
    const { kind, alert, text, now } = row;
    const bytes = Buffer.byteLength(text);
    const { is_head, ahead } = heads.end(kind, alert.fingerprint);
    const { lastInsertRowid } = insert.run(
      ...([kind, alert.fingerprint, priorityOf(alert), now, bytes, text] as const),
      ...([Number(row.isRepeat), Number(kind === "message" && isUrgent(alert))] as const),
      kind === "issue" ? row.messageRow : null,
      kind === "issue" ? row.claim.token : null,
      claimedAtOf(row),
      kind === "comment" ? row.issue.row : null,
      ...[is_head, ahead],
    );
    load.add(1, bytes);
    const id = Number(lastInsertRowid);
    heads.remember({ id, kind, fingerprint: alert.fingerprint });
    return id;
  };
}

function claimedAtOf(row: NewRow): number | null {
  switch (row.kind) {
    case "message":
      return null;
    case "issue":
      return row.claim.claimedAtMs;
    case "comment":
      return row.issue.claimedAtMs;
  }
}
