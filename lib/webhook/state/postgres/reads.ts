import type postgres from "postgres";
import type { DeadRow, DueQuery, DueRow, LatestRow, OutboxKind, OutboxStats } from "../contract.ts";
import { issueKey, storedAlert } from "../stored.ts";
import { restoredText, storedKey } from "./stored-text.ts";

/** The rows that may be tried now, and the ids of those whose alert cannot be read. */
export async function due(
  sql: postgres.Sql,
  kind: OutboxKind,
  query: DueQuery,
): Promise<{ rows: DueRow[]; unreadable: number[] }> {
  const { limit, except, issueGraceMs } = query;
  if (limit <= 0) return { rows: [], unreadable: [] };
  const found = await sql`
    select id, alert, attempts, age_ms, claimed_at, issue_url
    from opsctl_state.due(
      ${kind}::text, ${Number.isFinite(limit) ? limit : null}::bigint, ${JSON.stringify(except)}::text::json,
      ${issueGraceMs}::bigint)`;
  const rows: DueRow[] = [];
  const unreadable: number[] = [];
  for (const row of found) {
    const alert = storedAlert(row.alert);
    if (alert === null) unreadable.push(Number(row.id));
    else
      rows.push({
        id: Number(row.id),
        kind,
        alert,
        attempts: row.attempts,
        ageMs: Number(row.age_ms),
        claimedAtMs: row.claimed_at === null ? null : Number(row.claimed_at),
        issueUrl: restored(row.issue_url),
      });
  }
  return { rows, unreadable };
}

/** How many rows of a kind were delivered within the last `ms`. */
export async function deliveredWithin(sql: postgres.Sql, kind: OutboxKind, ms: number): Promise<number> {
  const [row] = await sql`
    select count(*)::int as count from opsctl_state.outbox
    where state = 'delivered' and kind = ${kind}::text
      and settled_at > opsctl_state.now_ms() - ${Math.ceil(ms)}::bigint`;
  return row!.count;
}

/** How many rows wait, and how many were given up. */
export async function stats(sql: postgres.Sql): Promise<OutboxStats> {
  const [row] = await sql`select * from opsctl_state.stats()`;
  const kind = (name: OutboxKind) => ({
    queued: Number(row![`${name}_queued`]),
    dead: Number(row![`${name}_dead`]),
    oldestQueuedAgeMs: row![`${name}_age_ms`] === null ? null : Number(row![`${name}_age_ms`]),
  });
  return { message: kind("message"), issue: kind("issue"), queuedBytes: Number(row!.queued_bytes) };
}

/** The rows that were given up, in order of arrival. */
export async function listDead(sql: postgres.Sql): Promise<DeadRow[]> {
  const rows = await sql`
    select id, kind, alertname, fingerprint, squad, attempts, code, accepted_at, settled_at
    from opsctl_state.outbox where state = 'dead' order by id`;
  return rows.map((row) => ({
    id: Number(row.id),
    kind: row.kind,
    alertname: restored(row.alertname),
    fingerprint: restoredText(row.fingerprint),
    squad: row.squad,
    attempts: row.attempts,
    code: restoredText(row.code),
    acceptedAt: new Date(Number(row.accepted_at)).toISOString(),
    diedAt: new Date(Number(row.settled_at)).toISOString(),
  }));
}

/** The newest rows of a fingerprint, one per kind. */
export async function latest(
  sql: postgres.Sql,
  fingerprint: string,
): Promise<Partial<Record<OutboxKind, LatestRow>>> {
  const rows = await sql`
    select kind, state, attempts, code, reference, url
    from opsctl_state.latest(${storedKey(issueKey(fingerprint))}::text)`;
  const found: Partial<Record<OutboxKind, LatestRow>> = {};
  for (const row of rows)
    found[row.kind as OutboxKind] = {
      status: row.state,
      attempts: row.attempts,
      code: restored(row.code),
      reference: restored(row.reference),
      url: restored(row.url),
    };
  return found;
}

function restored(text: string | null): string | null {
  return text === null ? null : restoredText(text);
}
