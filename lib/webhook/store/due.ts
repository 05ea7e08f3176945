import { DIGEST_LIMIT, type DueQuery, type DueRow, type OutboxKind } from "./model.ts";
import { readRows } from "./read-row.ts";
import type { Sql, SqlValue } from "./sql.ts";

/**
 * How many rows that wait are looked at, in the order of their turn: with more than that before it which may not be tried
 * now, a row waits until one of those moves on.
 */
const MOST_LOOKED_AT = 5_000;
/** How many rows a digest is chosen from. */
const MOST_IN_DIGEST = 1_000;

/** A row that began later than now was tried before the clock was set back. */
const IS_DUE = "(o.due_at <= {now} or o.begun_at > {now})";
/** The oldest of its fingerprint and kind that waits. */
const IS_HEAD = `o.id = (select min(line.id) from {outbox} line
  where line.kind = o.kind and line.fingerprint = o.fingerprint and line.state = 'queued')`;

/** The row of an issue comes right after that of its message. As a value, which no planner makes a join of. */
const ISSUE_MAY_GO = `(select min(message.id) from {outbox} message
  where message.id = o.id - 1 and message.kind = 'message' and message.fingerprint = o.fingerprint
    and message.state = 'queued' and (message.attempts = 0 or message.sending = 1)
    and o.waits_since > {now} - $2 and o.waits_since <= {now}) is null`;
const COMMENT_MAY_GO = `(select min(issue.id) from {outbox} issue
  where issue.kind = 'issue' and issue.fingerprint = o.fingerprint and issue.state = 'queued'
    and issue.issue_id = o.issue_id) is null`;

const MAY_GO = { message: "true", issue: ISSUE_MAY_GO, comment: COMMENT_MAY_GO };

/**
 * Finds the rows that may be tried now.
 *
 * Behaviour: critical, high, warning, the rest, in order of arrival within one; of one fingerprint and kind only the
 *            oldest that waits, and no member of another row's text. A comment is due once its issue waits no more.
 */
export async function findDue(sql: Sql, kind: OutboxKind, query: DueQuery): Promise<DueRow[]> {
  const { limit, except, issueGraceMs, isProbe } = query;
  const values: SqlValue[] = kind === "issue" ? [kind, issueGraceMs] : [kind];
  const found = await sql.all(
    `select o.id from (
      select id, kind, fingerprint, priority, attempts, due_at, begun_at, waits_since, issue_id from {outbox}
      where kind = $1 and state = 'queued' and digest is null order by priority, id limit ${MOST_LOOKED_AT}) o
    where ${IS_DUE} and case when ${IS_HEAD} then ${MAY_GO[kind]} else false end
    order by ${isProbe ? "o.attempts, " : ""} o.priority, o.id limit $${values.length + 1}`,
    [...values, limit + except.length],
  );
  const ids = found.map(({ id }) => Number(id)).filter((id) => !except.includes(id));
  return await readRows(sql, ids.slice(0, limit));
}

/**
 * Finds messages for one digest: due, never critical, and none that may have arrived.
 *
 * Behaviour: at most `DIGEST_LIMIT` fingerprints in the order of their turn, of each the oldest that wait; none unless
 *            more than `most` wait.
 */
export async function findDigestible(sql: Sql, except: readonly number[], most: number): Promise<DueRow[]> {
  const waiting = `select id from {outbox}
    where kind = 'message' and state = 'queued' and digest is null and priority > 0 limit $1`;
  if ((await sql.all(waiting, [most + 1])).length <= most) return [];
  const rows = await sql.all(
    `select o.id, o.fingerprint, case when ${IS_HEAD} then 1 else 0 end as is_head from (
      select id, kind, fingerprint, priority, content, due_at, begun_at from {outbox}
      where kind = 'message' and state = 'queued' and digest is null and priority > 0
      order by priority, id limit ${MOST_LOOKED_AT}) o
    where o.content is null and ${IS_DUE}
    order by o.priority, o.id limit ${MOST_IN_DIGEST}`,
  );
  const lines = [...Map.groupBy(rows, ({ fingerprint }) => fingerprint).values()]
    .map((line) => line.toSorted((a, b) => Number(a.id) - Number(b.id)))
    .filter((line) => line[0]!.is_head === 1 && !line.some(({ id }) => except.includes(Number(id))));
  const chosen = lines.slice(0, DIGEST_LIMIT).flat();
  return await readRows(
    sql,
    chosen.map(({ id }) => Number(id)),
  );
}
