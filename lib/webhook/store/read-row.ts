import { inList, type Sql, type SqlRow } from "./sql.ts";
import { storedAlert } from "./stored.ts";
import type { AttemptText, DueRow, OutboxKind } from "./types.ts";

/** Rows that may be tried now, and the ids of those whose alert cannot be read. */
export type FoundRows = { rows: DueRow[]; unreadable: number[] };

/** Rows that are read in one statement. */
const READ_AT_ONCE = 64;

/** Reads rows that wait, in the order of their ids as given. */
export async function readRows(sql: Sql, ids: readonly number[]): Promise<FoundRows> {
  const found: FoundRows = { rows: [], unreadable: [] };
  for (let at = 0; at < ids.length; at += READ_AT_ONCE) {
    const some = ids.slice(at, at + READ_AT_ONCE);
    const { marks, values } = inList(some);
    const rows = await sql.all(
      `select o.*, {now} as now,
        (select a.issue_url from {alert} a where a.fingerprint = o.fingerprint) as issue_url
      from {outbox} o where o.id in (${marks})`,
      values,
    );
    const members = rows.some(({ content }) => content !== null) ? await membersOf(sql, some) : new Map();
    const byId = new Map(rows.map((row) => [Number(row.id), row]));
    for (const id of some) {
      const row = byId.get(id);
      if (row?.state !== "queued") continue;
      const due = dueRow(row, members.get(id) ?? []);
      if (due === null) found.unreadable.push(id);
      else found.rows.push(due);
    }
  }
  return found;
}

async function membersOf(sql: Sql, ids: readonly number[]): Promise<Map<number, number[]>> {
  const { marks, values } = inList(ids);
  const rows = await sql.all(
    `select id, digest from {outbox} where digest in (${marks}) and state = 'queued' order by id`,
    values,
  );
  const members = new Map<number, number[]>();
  for (const { id, digest } of rows) {
    const told = members.get(Number(digest));
    if (told === undefined) members.set(Number(digest), [Number(id)]);
    else told.push(Number(id));
  }
  return members;
}

/** Null when the alert, or the text, cannot be read. */
function dueRow(row: SqlRow, members: readonly number[]): DueRow | null {
  const alert = storedAlert(String(row.alert));
  const sent = sentOf(row);
  if (alert === null || sent === undefined) return null;
  return {
    id: Number(row.id),
    kind: row.kind as OutboxKind,
    alert,
    attempts: Number(row.attempts),
    waitedMs: Math.max(0, Number(row.now) - Number(row.waits_since)),
    triedMs: Number(row.tried_ms),
    isRepeat: row.is_repeat === 1,
    issueId: row.kind === "message" ? null : (row.issue_id as string | null),
    issueUrl: row.issue_url as string | null,
    ambiguous: Number(row.ambiguous) + Number(row.sending),
    sent,
    members: sent === null ? [] : members,
  };
}

function sentOf({ content, first_begun_at }: SqlRow): DueRow["sent"] | undefined {
  if (content === null) return null;
  const read = contentOf(String(content));
  return read === null ? undefined : { ...read, firstBegunAtMs: Number(first_begun_at) };
}

/** The text of an attempt as it is kept, or null when it cannot be read. */
export function contentOf(json: string): AttemptText | null {
  try {
    const { text, note } = JSON.parse(json) as Partial<AttemptText>;
    return typeof text === "string" && note !== undefined ? { text, note } : null;
  } catch {
    return null;
  }
}
