import type postgres from "postgres";
import type {
  Hold,
  KindStats,
  LatestRow,
  OutboxKind,
  OutboxStats,
  RecentAlert,
  ShownAlert,
} from "../contract.ts";
import { issueKey } from "../stored.ts";
import { restoredOrNull, restoredText, storedKey, storedText } from "./stored-text.ts";

const HOUR_MS = 3_600_000;
/** More than the gateway's answer about its messages has. */
const MOST_REFERENCES = 500;

/** How many rows wait, were given up, or are in doubt. */
export async function stats(sql: postgres.Sql): Promise<OutboxStats> {
  const [row] = await sql`select * from opsctl_state.stats()`;
  return {
    message: kindStats(row!, "message"),
    issue: kindStats(row!, "issue"),
    comment: kindStats(row!, "comment"),
    queuedBytes: Number(row!.queued_bytes),
    oldestCriticalAgeMs: numberOrNull(row!.critical_age_ms),
    reserveBytes: null,
  };
}

function kindStats(row: postgres.Row, kind: OutboxKind): KindStats {
  return {
    queued: Number(row[`${kind}_queued`]),
    dead: Number(row[`${kind}_dead`]),
    inDoubt: Number(row[`${kind}_in_doubt`]),
    oldestQueuedAgeMs: numberOrNull(row[`${kind}_age_ms`]),
  };
}

/** How many messages wait that a digest could tell, up to `most`. */
export async function waitingMessages(sql: postgres.Sql, most: number): Promise<number> {
  const [row] = await sql`select waiting_messages::int as count from opsctl_state.totals`;
  return Math.min(most, row!.count);
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
      code: restoredOrNull(row.code),
      reference: restoredOrNull(row.reference),
      url: restoredOrNull(row.url),
    };
  return found;
}

/** Which of these ids of the peer are those of rows of a kind. */
export async function heldReferences(
  sql: postgres.Sql,
  kind: OutboxKind,
  references: readonly string[],
): Promise<ReadonlySet<string>> {
  // Escaped twice: the texts of a JSON array are read from it, the stored form of each stays.
  const stored = JSON.stringify(references.map(storedText));
  const rows = await sql`
    select held from opsctl_state.held_references(${kind}::text, ${stored}::text::json) as held`;
  return new Set(rows.map(({ held }) => restoredText(held)));
}

/** Ids of the peer of messages that were delivered within a range of ages; newest first. */
export async function deliveredBetween(
  sql: postgres.Sql,
  newerThanMs: number,
  olderThanMs: number,
): Promise<string[]> {
  const rows = await sql`
    select reference from opsctl_state.delivered_between(
      ${Math.ceil(newerThanMs)}::bigint, ${Math.ceil(olderThanMs)}::bigint, ${MOST_REFERENCES}::bigint) as reference`;
  return rows.map(({ reference }) => restoredText(reference));
}

/** The channels that hold, and why. */
export async function holds(sql: postgres.Sql): Promise<Readonly<Record<OutboxKind, Hold | null>>> {
  const rows = await sql`select kind, code, since from opsctl_state.holds`;
  const found: Record<OutboxKind, Hold | null> = { message: null, issue: null, comment: null };
  for (const { kind, code, since } of rows)
    found[kind as OutboxKind] = { code: restoredText(code), sinceMs: Number(since) };
  return found;
}

/** The latest alerts, newest first. */
export async function recent(sql: postgres.Sql, limit: number): Promise<RecentAlert[]> {
  const rows = await sql`select * from opsctl_state.recent(${limit}::bigint)`;
  return rows.map((row) => ({
    row: Number(row.id),
    acceptedAtMs: Number(row.accepted_at),
    shown: JSON.parse(row.shown) as ShownAlert,
    message: {
      status: row.state,
      code: restoredOrNull(row.code),
      endedAtMs: numberOrNull(row.settled_at),
      isEmailed: row.is_emailed,
    },
    issue: row.issue_state && {
      status: row.issue_state,
      code: restoredOrNull(row.issue_code),
      url: restoredOrNull(row.issue_url),
    },
  }));
}

/** How many alerts were accepted in each of the last hours, the running one last. */
export async function hourly(sql: postgres.Sql, hours: number): Promise<number[]> {
  const rows = await sql`
    select h.hour, coalesce(c.alerts, 0)::int as alerts
    from (select opsctl_state.now_ms() / ${HOUR_MS}::bigint as hour) as n
    cross join generate_series(n.hour - ${hours}::bigint + 1, n.hour) as h(hour)
    left join opsctl_state.hours as c on c.hour = h.hour
    order by h.hour`;
  return rows.map(({ alerts }) => alerts);
}

function numberOrNull(value: string | null): number | null {
  return value === null ? null : Number(value);
}
