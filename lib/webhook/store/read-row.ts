import type { AttemptText, DueRow, OutboxKind } from "./model.ts";
import { inList, type Sql, type SqlRow } from "./sql.ts";
import { storedAlert } from "./stored.ts";

/** Rows that are read in one statement. */
const READ_AT_ONCE = 64;

/** Reads rows that wait, in the order of their ids as given. */
export async function readRows(sql: Sql, ids: readonly number[]): Promise<DueRow[]> {
  const found: DueRow[] = [];
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
      if (row?.state === "queued") found.push(dueRow(row, members.get(id) ?? []));
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
  const byDigest = Map.groupBy(rows, ({ digest }) => Number(digest));
  return new Map([...byDigest].map(([digest, members]) => [digest, members.map(({ id }) => Number(id))]));
}

function dueRow(row: SqlRow, members: readonly number[]): DueRow {
  const content = row.content === null ? null : contentOf(String(row.content));
  return {
    id: Number(row.id),
    kind: row.kind as OutboxKind,
    alert: { ...storedAlert(String(row.alert)), fingerprint: String(row.fingerprint) },
    attempts: Number(row.attempts),
    waitedMs: Math.max(0, Number(row.now) - Number(row.waits_since)),
    triedMs: Number(row.tried_ms),
    isRepeat: row.is_repeat === 1,
    issueId: row.kind === "message" ? null : (row.issue_id as string | null),
    issueUrl: row.issue_url as string | null,
    ambiguous: Number(row.ambiguous) + Number(row.sending),
    sent: content && { ...content, firstBegunAtMs: Number(row.first_begun_at) },
    members: content === null ? [] : members,
  };
}

/** The text of an attempt as it is kept, or null when its JSON is damaged. */
export function contentOf(json: string): AttemptText | null {
  try {
    const { text, note } = JSON.parse(json) as AttemptText;
    return { text, note };
  } catch {
    return null;
  }
}
