import { setTimeout as delay } from "node:timers/promises";
import { giveUpIssue } from "./attempts.ts";
import { takeIds } from "./ids.ts";
import { ISSUE_TTL_MS, type OutboxKind } from "./model.ts";
import { recordsOf, saveRecords } from "./records.ts";
import { inList, type Sql, type SqlRow, type SqlValue, type Store } from "./sql.ts";
import { shownOf } from "./stored.ts";

/** Rows changed in one transaction: while it runs, the service cannot accept. */
const ROWS_AT_ONCE = 500;
/** Longer than the longest pause between two tries of a process that waits for a file. */
const PAUSE_MS = 120;

/** A row that is dead or unknown, without its alert's text; `digest` is the row whose text has its alert, too. */
export type DeadRow = Awaited<ReturnType<typeof listDead>>[number];
/** A row that waits, without its alert's text; `nextAttemptAt` is null for one that was never tried. */
export type QueuedRow = Awaited<ReturnType<typeof listQueued>>[number];

const ENDED = "state in ('dead', 'unknown')";

/** The rows that are dead or unknown, oldest first; with a limit those that ended last. */
export async function listDead(sql: Sql, limit = Number.MAX_SAFE_INTEGER) {
  const rows = await sql.all(
    `select id, kind, state, digest, fingerprint, attempts, code, accepted_at, ended_at, alert
    from {outbox} where ${ENDED} order by ended_at desc, id desc limit $1`,
    [limit],
  );
  const oldestFirst = rows.sort((a, b) => Number(a.id) - Number(b.id));
  return oldestFirst.map((row) => ({
    ...listed(row),
    status: row.state as "dead" | "unknown",
    code: String(row.code),
    diedAt: instantOf(row.ended_at),
  }));
}

/** The rows that wait, in the order in which they would go out. */
export async function listQueued(sql: Sql, limit: number) {
  const rows = await sql.all(
    `select id, kind, digest, fingerprint, attempts, code, accepted_at, due_at, alert
    from {outbox} where state = 'queued'
    order by case kind when 'message' then 0 when 'issue' then 1 else 2 end, priority, id limit $1`,
    [limit],
  );
  return rows.map((row) => ({
    ...listed(row),
    severity: shownOf(String(row.alert)).severity,
    code: row.code as string | null,
    nextAttemptAt: row.due_at === 0 ? null : instantOf(row.due_at),
  }));
}

function listed(row: SqlRow) {
  const { name, squad } = shownOf(String(row.alert));
  return {
    id: Number(row.id),
    kind: row.kind as OutboxKind,
    digest: row.digest as number | null,
    alertname: name,
    fingerprint: String(row.fingerprint),
    squad: squad as string,
    attempts: Number(row.attempts),
    acceptedAt: instantOf(row.accepted_at),
  };
}

function instantOf(ms: SqlRow[string] | undefined): string {
  return new Date(Number(ms)).toISOString();
}

/**
 * Makes rows that are dead or unknown due again, with all others of their texts; null: all. Returns how many.
 *
 * Behaviour: as new, with new texts. An issue takes its claim again; while its fingerprint has another issue it
 *            stays, and a comment does while its issue is dead.
 */
export async function retryDead(store: Store, ids: readonly number[] | null): Promise<number> {
  return await inParts(store, ENDED, ids, async (sql, marks, values) => {
    const rows = await sql.all(
      `select id, kind, fingerprint, issue_id from {outbox}
      where ${ENDED} and (id in (${marks}) or digest in (${marks})
        or id in (select digest from {outbox} where id in (${marks}))
        or digest in (select digest from {outbox} where id in (${marks})))
      order by case kind when 'comment' then 1 else 0 end, id`,
      values,
    );
    const { nowMs } = await takeIds(sql, 0);
    let revived = 0;
    for (const row of rows) if (await mayRevive(sql, row, nowMs)) revived += await sql.run(REVIVE, [row.id!]);
    return revived;
  });
}

const REVIVE = `update {outbox} set state = 'queued', attempts = 0, due_at = 0, waits_since = {now}, begun_at = null,
  first_begun_at = null, ended_at = null, code = null, tried_ms = 0, ambiguous = 0, sending = 0, content = null,
  digest = null
  where id = $1`;

async function mayRevive(sql: Sql, { kind, fingerprint, issue_id }: SqlRow, nowMs: number): Promise<boolean> {
  if (kind === "comment") {
    const dead = `select 1 from {outbox} where kind = 'issue' and ${ENDED} and fingerprint = $1 and issue_id = $2`;
    return (await sql.all(dead, [fingerprint!, issue_id!])).length === 0;
  }
  if (kind !== "issue") return true;
  const [known] = await recordsOf(sql, [String(fingerprint)]);
  const isClaimed = known?.issueId != null && known.claimUntilMs > nowMs;
  if (isClaimed && known.issueId !== issue_id) return false;
  const unseen = { fingerprint: String(fingerprint), isFiring: false, startsAt: null, seenAtMs: nowMs };
  const claim = { issueId: String(issue_id), issueUrl: null, claimUntilMs: nowMs + ISSUE_TTL_MS };
  await saveRecords(sql, [{ ...(known ?? unseen), ...claim }]);
  return true;
}

/** Removes rows that are dead or unknown; null: all. Returns how many. */
export function dropDead(store: Store, ids: readonly number[] | null): Promise<number> {
  return drop(store, ENDED, ids);
}

/** Removes rows that wait, and releases the claims of their issues; null: all. Returns how many. */
export function dropQueued(store: Store, ids: readonly number[] | null): Promise<number> {
  return drop(store, "state = 'queued'", ids);
}

/** The other members of a removed text are rows of their own again; an issue that waits is given up. */
async function drop(store: Store, where: string, ids: readonly number[] | null): Promise<number> {
  return await inParts(store, where, ids, async (sql, marks, values) => {
    await sql.run(`update {outbox} set digest = null where digest in (${marks}) and ${where}`, values);
    const dropped = await sql.all(
      `delete from {outbox} where id in (${marks}) and ${where} returning kind, state, fingerprint, issue_id`,
      values,
    );
    for (const row of dropped)
      if (row.kind === "issue" && row.state === "queued") await giveUpIssue(sql, row, "delete from {outbox}");
    return dropped.length;
  });
}

/** Changes rows some hundreds at a time; null: all of a condition. Returns how many were changed. */
async function inParts(
  store: Store,
  where: string,
  ids: readonly number[] | null,
  change: (sql: Sql, marks: string, values: SqlValue[]) => Promise<number>,
): Promise<number> {
  const select = `select id from {outbox} where ${where} order by id`;
  const all = ids ?? (await store.read((sql) => sql.all(select))).map(({ id }) => Number(id));
  let changed = 0;
  for (let at = 0; at < all.length; at += ROWS_AT_ONCE) {
    if (at > 0) await delay(PAUSE_MS);
    const { marks, values } = inList(all.slice(at, at + ROWS_AT_ONCE));
    changed += await store.write((sql) => change(sql, marks, values));
  }
  return changed;
}
