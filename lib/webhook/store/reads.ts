import { type LaneState, OUTBOX_KINDS, type OutboxKind, type RecoveryNote, type RowState } from "./model.ts";
import { inList, type Sql, type SqlValue } from "./sql.ts";
import { shownOf, storableReference, storedAlert } from "./stored.ts";

const HOUR_MS = 3_600_000;
const MOST_DELIVERED = 500;
const MOST_ESCALATIONS = 1_000;
/** How many of the newest rows are searched for those of a fingerprint: an index would cost every alert. */
const NEWEST_ROWS = 50_000;

/** How many rows of one kind wait, are dead, or are unknown. */
export type KindStats = Awaited<ReturnType<typeof readStats>>["message"];

/** What waits and what ended; what the store keeps for a full disk is its own to say. */
export async function readStats(sql: Sql) {
  const waiting = await sql.all(
    `select kind, count(*) as count, sum(bytes) as bytes, min(waits_since) as oldest, {now} as now
    from {outbox} where state = 'queued' group by kind`,
  );
  const ended = await sql.all(
    `select kind, state, count(*) as count from {outbox} where state in ('dead', 'unknown') group by kind, state`,
  );
  const [critical] = await sql.all(
    `select min(waits_since) as oldest, {now} as now from {outbox}
    where kind = 'message' and priority = 0 and state = 'queued' and digest is null`,
  );
  const statsOf = (kind: OutboxKind) => {
    const row = waiting.find((one) => one.kind === kind);
    const count = (state: string) =>
      Number(ended.find((one) => one.kind === kind && one.state === state)?.count ?? 0);
    const [dead, unknown] = [count("dead"), count("unknown")];
    return { queued: Number(row?.count ?? 0), dead, unknown, oldestQueuedAgeMs: row ? ageOf(row) : null };
  };
  return {
    message: statsOf("message"),
    issue: statsOf("issue"),
    comment: statsOf("comment"),
    queuedBytes: waiting.reduce((sum, { bytes }) => sum + Number(bytes), 0),
    oldestCriticalAgeMs: ageOf(critical!),
  };
}

function ageOf({ oldest, now }: Record<string, unknown>): number | null {
  return oldest === null ? null : Math.max(0, Number(now) - Number(oldest));
}

/** The newest row of each kind of a fingerprint, as it is recorded now; nothing of a kind without one. */
export async function readLatest(sql: Sql, fingerprint: string) {
  const rows = await sql.all(
    `select kind, state, attempts, code, reference, url from {outbox}
    where id > (select coalesce(max(id), 0) - ${NEWEST_ROWS} from {outbox}) and fingerprint = $1
    order by id`,
    [fingerprint],
  );
  const found = rows.map(({ kind, state, attempts, code, reference, url }) => {
    const texts = { code: textOf(code), reference: textOf(reference), url: textOf(url) };
    return [kind as OutboxKind, { status: state as RowState, attempts: Number(attempts), ...texts }] as const;
  });
  return Object.fromEntries(found) as Partial<Record<OutboxKind, (typeof found)[number][1]>>;
}

const textOf = (value: SqlValue | undefined) => value as string | null;

/** Ids of the gateway of messages that were delivered so long ago, the newest first; at most 500. */
export async function readDelivered(sql: Sql, newerThanMs: number, olderThanMs: number): Promise<string[]> {
  const rows = await sql.all(
    `select reference from {outbox}
    where state = 'delivered' and ended_at > {now} - $1 and ended_at <= {now} - $2
      and kind = 'message' and digest is null and reference is not null
    order by ended_at desc, id desc limit ${MOST_DELIVERED}`,
    [Math.ceil(newerThanMs), Math.ceil(olderThanMs)],
  );
  return rows.map(({ reference }) => String(reference));
}

/** Which of these ids of the gateway or tracker are those of rows of a kind. */
export async function readHeld(
  sql: Sql,
  kind: OutboxKind,
  references: readonly string[],
): Promise<ReadonlySet<string>> {
  const { marks, values } = inList(references.map(storableReference), 2);
  const rows = await sql.all(`select reference from {outbox} where kind = $1 and reference in (${marks})`, [
    kind,
    ...values,
  ]);
  const held = new Set(rows.map(({ reference }) => reference));
  return new Set(references.filter((reference) => held.has(storableReference(reference))));
}

/** An alert whose message waits or is unknown, for the fallback channel. */
export type Escalation = Awaited<ReturnType<typeof readEscalations>>[number];

/**
 * Critical messages, and those about the alarm itself, that wait for so long, and all that are unknown; not yet e-mailed.
 *
 * Behaviour: over a clock that was set back one has waited long enough.
 */
export async function readEscalations(sql: Sql, waitedMs: number) {
  const rows = await sql.all(
    `select o.id, o.state, o.fingerprint, o.accepted_at, o.alert,
      (select a.issue_url from {alert} a where a.fingerprint = o.fingerprint) as issue_url
    from {outbox} o
    where o.urgent = 1 and o.emailed_at is null and o.state in ('queued', 'unknown')
      and (o.state = 'unknown' or o.accepted_at <= {now} - $1 or o.accepted_at > {now})
    order by o.id limit ${MOST_ESCALATIONS}`,
    [Math.ceil(waitedMs)],
  );
  return rows.map((row) => ({
    row: Number(row.id),
    alert: { ...storedAlert(String(row.alert)), fingerprint: String(row.fingerprint) },
    status: row.state as "queued" | "unknown",
    acceptedAtMs: Number(row.accepted_at),
    issueUrl: textOf(row.issue_url),
  }));
}

/** One of the latest alerts: what people are shown of it, its message, and its own issue. */
export type RecentAlert = Awaited<ReturnType<typeof readRecent>>[number];

/** The latest alerts, newest first; the row of an issue comes right after that of its message. */
export async function readRecent(sql: Sql, limit: number) {
  const rows = await sql.all(
    `select o.id, o.accepted_at, o.alert, o.state, o.code, o.ended_at, o.emailed_at,
      issue.state as issue_state, issue.code as issue_code, issue.url as issue_url
    from {outbox} o
    left join {outbox} issue on issue.id = o.id + 1 and issue.kind = 'issue' and issue.issue_id = o.issue_id
    where o.kind = 'message' order by o.id desc limit $1`,
    [limit],
  );
  return rows.map((row) => ({
    row: Number(row.id),
    acceptedAtMs: Number(row.accepted_at),
    shown: shownOf(String(row.alert)),
    message: {
      status: row.state as RowState,
      code: textOf(row.code),
      endedAtMs: row.ended_at as number | null,
      isEmailed: row.emailed_at !== null,
    },
    issue:
      row.issue_state === null
        ? null
        : {
            status: row.issue_state as RowState,
            code: textOf(row.issue_code),
            url: textOf(row.issue_url),
          },
  }));
}

/** How many alerts were accepted in each of the last hours, the running one last; by the newest rows. */
export async function readHourly(sql: Sql, hours: number): Promise<number[]> {
  const [clock] = await sql.all("select {now} as now");
  const running = Math.floor(Number(clock!.now) / HOUR_MS);
  const rows = await sql.all(
    `select accepted_at / ${HOUR_MS} as hour, count(*) as alerts from {outbox}
    where id > (select coalesce(max(id), 0) - ${NEWEST_ROWS} from {outbox}) and kind = 'message' and accepted_at > $1
    group by accepted_at / ${HOUR_MS}`,
    [(running - hours) * HOUR_MS],
  );
  const counted = new Map(rows.map(({ hour, alerts }) => [Number(hour), Number(alerts)]));
  return Array.from({ length: hours }, (_, at) => counted.get(running - hours + 1 + at) ?? 0);
}

/** A value of `meta`, or null. */
export async function readMeta(sql: Sql, key: string): Promise<string | null> {
  const [row] = await sql.all("select value from {meta} where key = $1", [key]);
  return row === undefined ? null : String(row.value);
}

/** What the next message has to say; the message that says it takes it away once it is delivered. */
export async function readNote(sql: Sql): Promise<RecoveryNote> {
  const emailed = Number((await readMeta(sql, "emailed")) ?? 0);
  return { emailed, undelivered: Number((await readMeta(sql, "undelivered")) ?? 0) };
}

/**
 * For how long a rate limit is used up, of the instant and the time that an attempt left: also over a clock that was set
 * back no longer than it was then.
 */
export function paceAheadOf(kept: string | null, nowMs: number): number {
  const [atMs = 0, aheadMs = 0] = (kept ?? "").split(" ").map(Number);
  return Math.min(aheadMs, Math.max(0, atMs + aheadMs - nowMs));
}

/** What is kept of each lane. */
export async function readLanes(sql: Sql): Promise<Record<OutboxKind, LaneState>> {
  const rows = await sql.all("select key, value, {now} as now from {meta}");
  const byKey = new Map(rows.map(({ key, value }) => [String(key), String(value)]));
  const now = Number(rows[0]?.now ?? 0);
  const laneOf = (kind: OutboxKind): LaneState => ({
    pausedBy: byKey.get(`paused:${kind}`) ?? null,
    paceAheadMs: paceAheadOf(byKey.get(`pace:${kind}`) ?? null, now),
  });
  return Object.fromEntries(OUTBOX_KINDS.map((kind) => [kind, laneOf(kind)])) as Record<
    OutboxKind,
    LaneState
  >;
}
