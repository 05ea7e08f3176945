import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { SqliteDedup } from "../../../../dedup/sqlite.ts";
import type { Alert } from "../../../alert/alert.ts";
import { type AcceptedAlert, type AcceptOutcome, ISSUE_TTL_MS } from "../../contract.ts";
import { issueKey, priorityOf } from "../../stored.ts";
import type { Load } from "./load.ts";

/** What accepting works with. */
export type AcceptDependencies = { db: DatabaseSync; dedup: SqliteDedup; load: Load };

/**
 * Accepts one request in the caller's transaction.
 *
 * Errors: those of SQLite; then the caller's transaction must not be committed.
 */
export function acceptor(
  dependencies: AcceptDependencies,
): (alerts: readonly Alert[], now: number) => AcceptOutcome {
  const insert = prepareInsert(dependencies.db);
  return (alerts, now) => {
    const texts = alerts.map((alert) => JSON.stringify(alert));
    const sizes = texts.map((text) => Buffer.byteLength(text));
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    if (!dependencies.load.takes(alerts.length, bytes)) return { refused: "outbox_full" };
    const accepted = alerts.map((alert, at) =>
      acceptAlert(dependencies, insert, alert, { text: texts[at]!, bytes: sizes[at]!, now }),
    );
    return { accepted };
  };
}

function prepareInsert(db: DatabaseSync): StatementSync {
  return db.prepare(`
    insert into outbox (kind, fingerprint, priority, accepted_at_ms, bytes, alert, message_row, claim_token,
      claimed_at_ms, state, age_from_ms, is_head)
    values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, 'queued', ?4, not exists (
      select 1 from outbox where state = 'queued' and is_head = 1 and kind = ?1 and fingerprint = ?2))`);
}

function acceptAlert(
  { dedup, load }: AcceptDependencies,
  insert: StatementSync,
  alert: Alert,
  { text, bytes, now }: { text: string; bytes: number; now: number },
): AcceptedAlert {
  const { fingerprint } = alert;
  const priority = priorityOf(alert);
  const message = insert.run("message", fingerprint, priority, now, bytes, text, null, null, null);
  const messageRow = Number(message.lastInsertRowid);
  load.add(1, bytes);
  if (!alert.firing) return { alert, messageRow, issue: { status: "not_firing" } };
  const claim = dedup.claim(issueKey(fingerprint), ISSUE_TTL_MS);
  const { claimedAtMs } = claim;
  if (claim.status === "duplicate")
    return { alert, messageRow, issue: { status: "duplicate", claimedAtMs, url: claim.value } };
  const issue = insert.run(
    ...(["issue", fingerprint, priority, now, bytes, text] as const),
    ...[messageRow, claim.token, claimedAtMs],
  );
  load.add(1, bytes);
  return { alert, messageRow, issue: { status: "first", row: Number(issue.lastInsertRowid), claimedAtMs } };
}
