import type { AlertRecord } from "./model.ts";
import { inList, type Sql, type SqlRow } from "./sql.ts";

/** Fingerprints that are asked for in one statement. */
const ASKED_AT_ONCE = 256;

const COLUMNS = ["fingerprint", "firing", "starts_at", "seen_at", "issue_id", "issue_url", "claim_until"];

/** What is known of fingerprints; nothing of one that was never seen. */
export async function recordsOf(sql: Sql, fingerprints: Iterable<string>): Promise<AlertRecord[]> {
  const asked = [...fingerprints];
  const records: AlertRecord[] = [];
  for (let at = 0; at < asked.length; at += ASKED_AT_ONCE) {
    const { marks, values } = inList(asked.slice(at, at + ASKED_AT_ONCE));
    const rows = await sql.all(
      `select ${COLUMNS.join(", ")} from {alert} where fingerprint in (${marks})`,
      values,
    );
    for (const row of rows) records.push(recordOf(row));
  }
  return records;
}

/**
 * Saves what was observed.
 *
 * Behaviour: the link of an issue stays as it is while the issue is the same, because it may become known at the same
 *            time.
 */
export async function saveRecords(sql: Sql, records: readonly AlertRecord[]): Promise<void> {
  if (records.length === 0) return;
  await sql.insert(
    "alert",
    COLUMNS,
    records.map((record) => [
      ...[record.fingerprint, Number(record.isFiring), record.startsAt, record.seenAtMs],
      ...[record.issueId, record.issueUrl, record.claimUntilMs],
    ]),
    `on conflict (fingerprint) do update set firing = excluded.firing, starts_at = excluded.starts_at,
      seen_at = excluded.seen_at, issue_id = excluded.issue_id, claim_until = excluded.claim_until,
      issue_url = case when excluded.issue_id = old.issue_id then coalesce(old.issue_url, excluded.issue_url)
        else excluded.issue_url end`,
  );
}

function recordOf(row: SqlRow): AlertRecord {
  return {
    fingerprint: String(row.fingerprint),
    isFiring: row.firing === 1,
    startsAt: row.starts_at as string | null,
    seenAtMs: Number(row.seen_at),
    issueId: row.issue_id as string | null,
    issueUrl: row.issue_url as string | null,
    claimUntilMs: Number(row.claim_until),
  };
}
