import { Buffer } from "node:buffer";
import type { Alert } from "../alert/alert.ts";
import type { Amount, Load } from "./load.ts";
import { observe } from "./observe.ts";
import { recordsOf, saveRecords } from "./records.ts";
import type { Sql, SqlValue } from "./sql.ts";
import { isUrgent, priorityOf } from "./stored.ts";
import type { AcceptedAlert, AcceptOutcome, AlertRecord, OutboxKind } from "./types.ts";

/** The columns of a row that are known when it is added. */
export const NEW_ROW: readonly string[] = [
  ...["id", "kind", "state", "fingerprint", "priority", "urgent", "is_repeat", "issue_id", "bytes"],
  ...["accepted_at", "waits_since", "due_at", "alert", "attempts", "ambiguous", "sending", "tried_ms"],
];

/** The most rows that an alert adds: its message, and an issue or a comment. */
const MOST_ROWS = 2;
const HOUR_MS = 3_600_000;

/**
 * Accepts requests in the caller's transaction, each whole or not at all.
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
  const changes = { rows: [], known: new Map(), changed: new Map(), added: { rows: 0, bytes: 0 } };
  const batch: Batch = { nextId: firstId, nowMs, comments, ...changes };
  for (const record of await recordsOf(sql, new Set(alerts.map(({ fingerprint }) => fingerprint))))
    batch.known.set(record.fingerprint, record);
  const outcomes = requests.map((request) => acceptRequest(batch, request, load));
  const accepted = outcomes.reduce((sum, one) => sum + ("accepted" in one ? one.accepted.length : 0), 0);
  if (accepted === 0) return { outcomes, added: batch.added };
  await Promise.all([
    sql.insert("outbox", NEW_ROW, batch.rows),
    saveRecords(sql, [...batch.changed.values()]),
    countAlerts(sql, Math.floor(nowMs / HOUR_MS), accepted),
  ]);
  return { outcomes, added: batch.added };
}

/** Takes numbers for rows, which no one else gets, and reads the clock. */
export async function takeIds(sql: Sql, count: number): Promise<{ firstId: number; nowMs: number }> {
  const [taken] = await sql.all(
    `insert into {meta} as old (key, value) values ('next_id', cast(1 + cast($1 as bigint) as text))
    on conflict (key) do update set value = cast(cast(old.value as bigint) + cast($1 as bigint) as text)
    returning value, {now} as now`,
    [count],
  );
  return { firstId: Number(taken!.value) - count, nowMs: Number(taken!.now) };
}

/** Counts accepted alerts in their hour. */
export async function countAlerts(sql: Sql, hour: number, alerts: number): Promise<void> {
  const add = "on conflict (hour) do update set alerts = old.alerts + excluded.alerts";
  await sql.insert("hour", ["hour", "alerts"], [[hour, alerts]], add);
}

type Batch = {
  nextId: number;
  nowMs: number;
  comments: boolean;
  rows: SqlValue[][];
  known: Map<string, AlertRecord>;
  changed: Map<string, AlertRecord>;
  added: Amount;
};

/** Decides on a copy of what changes: of a request that is refused nothing is left. */
function acceptRequest(batch: Batch, alerts: readonly Alert[], load: Load): AcceptOutcome {
  const known = new Map<string, AlertRecord>();
  const request: Batch = { ...batch, rows: [], known, changed: new Map() };
  for (const { fingerprint } of alerts) {
    const record = batch.known.get(fingerprint);
    if (record !== undefined) known.set(fingerprint, record);
  }
  const accepted = alerts.map((alert) => acceptAlert(request, alert));
  const bytes = request.rows.reduce((sum, row) => sum + Number(row[BYTES]), 0);
  const added = { rows: batch.added.rows + request.rows.length, bytes: batch.added.bytes + bytes };
  const isCritical = alerts.some((alert) => priorityOf(alert) === 0);
  if (!load.takes(added, { isCritical })) return { refused: "outbox_full" };
  batch.added = added;
  batch.nextId = request.nextId;
  for (const row of request.rows) batch.rows.push(row);
  for (const [fingerprint, record] of request.changed) {
    batch.known.set(fingerprint, record);
    batch.changed.set(fingerprint, record);
  }
  return { accepted };
}

const BYTES = NEW_ROW.indexOf("bytes");

function acceptAlert(batch: Batch, alert: Alert): AcceptedAlert {
  const { fingerprint } = alert;
  const { record, isRepeat, claims, commentOn } = observe(batch.known.get(fingerprint), alert, batch.nowMs);
  if (record !== null) {
    batch.known.set(fingerprint, record);
    batch.changed.set(fingerprint, record);
  }
  const current = batch.known.get(fingerprint);
  const json = JSON.stringify(alert);
  const issueId = claims ? (current?.issueId ?? null) : null;
  const row = { alert, json, isRepeat };
  const messageRow = addRow(batch, { ...row, kind: "message", issueId });
  if (commentOn !== null && batch.comments) addRow(batch, { ...row, kind: "comment", issueId: commentOn });
  if (issueId !== null) {
    const issueRow = addRow(batch, { ...row, kind: "issue", issueId });
    return { alert, messageRow, isRepeat, issue: { status: "first", row: issueRow, issueId } };
  }
  if (!alert.firing) return { alert, messageRow, isRepeat, issue: { status: "not_firing" } };
  const issue = { status: "duplicate", issueId: current!.issueId!, url: current!.issueUrl } as const;
  return { alert, messageRow, isRepeat, issue };
}

type NewRow = { kind: OutboxKind; alert: Alert; json: string; isRepeat: boolean; issueId: string | null };

function addRow(batch: Batch, { kind, alert, json, isRepeat, issueId }: NewRow): number {
  const { nowMs } = batch;
  const id = batch.nextId;
  batch.nextId += 1;
  const urgent = Number(kind === "message" && isUrgent(alert));
  batch.rows.push([
    ...[id, kind, "queued", alert.fingerprint, priorityOf(alert), urgent, Number(isRepeat), issueId],
    ...[Buffer.byteLength(json), nowMs, nowMs, 0, json, 0, 0, 0, 0],
  ]);
  return id;
}
