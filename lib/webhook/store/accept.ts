import { Buffer } from "node:buffer";
import type { Alert } from "../alert/alert.ts";
import { isUrgent, priorityOf } from "../alert/priority.ts";
import { takeIds } from "./ids.ts";
import type { Amount, Load } from "./load.ts";
import type { AcceptedAlert, AcceptOutcome, AlertRecord, OutboxKind } from "./model.ts";
import { observe } from "./observe.ts";
import { recordsOf, saveRecords } from "./records.ts";
import type { Sql, SqlValue } from "./sql.ts";

/** The columns of a row that is added; the others have their defaults. */
const NEW_ROW = [
  ...["id", "kind", "fingerprint", "priority", "urgent", "is_repeat", "issue_id", "bytes", "accepted_at"],
  ...["waits_since", "alert"],
];

/** The most rows that an alert adds: its message, and an issue or a comment. */
const MOST_ROWS = 2;

/** What a request, or all of them, add. */
type Added = { rows: SqlValue[][]; bytes: number; records: Map<string, AlertRecord> };

/**
 * Accepts requests in the caller's transaction, each whole or not at all; returns how much more waits, too.
 *
 * Shape:     `comments`: whether the end of an alert is commented on its issue.
 * Behaviour: takes numbers for the rows first: processes and hosts that accept at once do so one after the other, so that
 *            numbers are committed in their order, and of two alerts of a fingerprint one claims the issue. The row of an
 *            issue has the number after that of its message.
 */
export async function acceptRequests(
  sql: Sql,
  requests: readonly (readonly Alert[])[],
  { load, comments }: { load: Load; comments: boolean },
): Promise<{ outcomes: AcceptOutcome[]; added: Amount }> {
  const alerts = requests.flat();
  const { firstId, nowMs } = await takeIds(sql, alerts.length * MOST_ROWS);
  await load.refresh(sql, nowMs);
  const known = new Map<string, AlertRecord>();
  for (const record of await recordsOf(sql, new Set(alerts.map(({ fingerprint }) => fingerprint))))
    known.set(record.fingerprint, record);
  const all: Added = { rows: [], bytes: 0, records: new Map() };
  const outcomes = requests.map((request): AcceptOutcome => {
    const records = new Map<string, AlertRecord>();
    const recordOf = (one: string) => records.get(one) ?? all.records.get(one) ?? known.get(one);
    const added: Added = { rows: [], bytes: 0, records };
    const accepted = request.map((alert) => {
      const at = { firstId: firstId + all.rows.length, nowMs, comments, known: recordOf(alert.fingerprint) };
      return acceptAlert(added, alert, at);
    });
    const amount = { rows: all.rows.length + added.rows.length, bytes: all.bytes + added.bytes };
    const isCritical = request.some((alert) => priorityOf(alert) === 0);
    if (!load.takes(amount, { isCritical })) return { refused: "outbox_full" };
    for (const row of added.rows) all.rows.push(row);
    for (const [fingerprint, record] of records) all.records.set(fingerprint, record);
    all.bytes += added.bytes;
    return { accepted };
  });
  if (all.rows.length > 0)
    await Promise.all([sql.insert("outbox", NEW_ROW, all.rows), saveRecords(sql, [...all.records.values()])]);
  return { outcomes, added: { rows: all.rows.length, bytes: all.bytes } };
}

type Context = { firstId: number; nowMs: number; comments: boolean; known: AlertRecord | undefined };

function acceptAlert(
  added: Added,
  alert: Alert,
  { firstId, nowMs, comments, known }: Context,
): AcceptedAlert {
  const { fingerprint } = alert;
  const { record, isRepeat, claims, commentOn } = observe(known, alert, nowMs);
  if (record !== null) added.records.set(fingerprint, record);
  const json = JSON.stringify(alert);
  const bytes = Buffer.byteLength(json);
  const add = (kind: OutboxKind, issueId: string | null): number => {
    const id = firstId + added.rows.length;
    const urgent = Number(kind === "message" && isUrgent(alert));
    const facts = [fingerprint, priorityOf(alert), urgent, Number(isRepeat), issueId];
    added.rows.push([id, kind, ...facts, bytes, nowMs, nowMs, json]);
    added.bytes += bytes;
    return id;
  };
  const { issueId = null, issueUrl: url = null } = record ?? known ?? {};
  const messageRow = add("message", claims ? issueId : null);
  const accepted = { alert, messageRow, isRepeat };
  if (commentOn !== null && comments) add("comment", commentOn);
  if (!alert.firing) return { ...accepted, issue: { status: "not_firing" } };
  if (!claims) return { ...accepted, issue: { status: "duplicate", issueId: issueId!, url } };
  return { ...accepted, issue: { status: "first", row: add("issue", issueId), issueId: issueId! } };
}
