import { countAlerts, takeIds } from "./accept.ts";
import { addToNote } from "./attempts.ts";
import { paceAheadOf, readMeta } from "./reads.ts";
import { allRecords, recordsOf, saveRecords } from "./records.ts";
import type { Sql, SqlRow } from "./sql.ts";
import { type AlertRecord, type Contents, OUTBOX_KINDS } from "./types.ts";

/** Everything that another store has to take over; see `State.contents`. */
export async function readContents(sql: Sql): Promise<Contents> {
  const meta = await sql.all("select key, value from {meta}");
  const hours = await sql.all("select hour, alerts from {hour}");
  return {
    alerts: await allRecords(sql),
    rows: await sql.all("select * from {outbox} order by id"),
    meta: Object.fromEntries(meta.map(({ key, value }) => [String(key), String(value)])),
    hours: hours.map(({ hour, alerts }) => ({ hour: Number(hour), alerts: Number(alerts) })),
  };
}

/**
 * Takes over what another store has, in the caller's transaction; see `State.adopt`.
 *
 * Behaviour: an issue that waits there, and whose fingerprint has another one here, is not created. A row that is being
 *            sent there counts as one whose end was never recorded.
 */
export async function adoptContents(
  sql: Sql,
  { alerts, rows, meta = {}, hours = [] }: Contents,
): Promise<number> {
  const { firstId, nowMs } = await takeIds(sql, rows.length);
  const known = await recordsOf(sql, new Set(alerts.map(({ fingerprint }) => fingerprint)));
  const here = new Map(known.map((record) => [record.fingerprint, record]));
  const merged = alerts.map((record) => merge(here.get(record.fingerprint), record, nowMs));
  await saveRecords(sql, merged);
  const issueOf = new Map(merged.map(({ fingerprint, issueId }) => [fingerprint, issueId]));
  const taken = rows.filter(
    ({ kind, state, fingerprint, issue_id }) =>
      kind !== "issue" || state !== "queued" || issueOf.get(String(fingerprint)) === issue_id,
  );
  const ids = new Map(taken.map(({ id }, at) => [id, firstId + at]));
  const columns = Object.keys(taken[0] ?? {});
  if (taken.length > 0)
    await sql.insert(
      "outbox",
      columns,
      taken.map((row) => columns.map((column) => renumbered(row, column, ids))),
    );
  for (const { hour, alerts: count } of hours) await countAlerts(sql, hour, count);
  await addToNote(sql, { emailed: Number(meta.emailed ?? 0), undelivered: Number(meta.undelivered ?? 0) });
  for (const kind of OUTBOX_KINDS) {
    const key = `pace:${kind}`;
    const pace = meta[key] ?? null;
    if (paceAheadOf(pace, nowMs) <= paceAheadOf(await readMeta(sql, key), nowMs)) continue;
    const replace = "on conflict (key) do update set value = excluded.value";
    await sql.insert("meta", ["key", "value"], [[key, pace]], replace);
  }
  return taken.filter(({ state }) => state === "queued").length;
}

/** What is known of a fingerprint to two stores: the newer of what was seen, and the claim that is in force here. */
function merge(here: AlertRecord | undefined, there: AlertRecord, nowMs: number): AlertRecord {
  if (here === undefined || here.issueId === null || here.claimUntilMs <= nowMs) return there;
  const { issueId, issueUrl, claimUntilMs } = here;
  return { ...there, issueId, issueUrl, claimUntilMs };
}

function renumbered(row: SqlRow, column: string, ids: ReadonlyMap<unknown, number>) {
  const value = row[column] ?? null;
  return column === "id" || column === "digest" ? (ids.get(value) ?? null) : value;
}
