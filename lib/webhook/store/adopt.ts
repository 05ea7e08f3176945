import { addToNote } from "./attempts.ts";
import { takeIds } from "./ids.ts";
import { type AlertRecord, type Contents, OUTBOX_KINDS } from "./model.ts";
import { paceAheadOf, readMeta } from "./reads.ts";
import { recordsOf, saveRecords } from "./records.ts";
import type { Sql, SqlRow, SqlValue } from "./sql.ts";

/** Everything that another store has to take over. */
export async function readContents(sql: Sql, id: string): Promise<Contents> {
  const rows = await sql.all("select * from {outbox} order by id");
  const meta = await sql.all("select key, value from {meta}");
  const isAlive = ({ kind, state }: SqlRow) => kind === "issue" && state !== "dead";
  const issues = new Set(rows.filter(isAlive).map(issueIdOf));
  const seen = await sql.all("select fingerprint from {alert}");
  const alerts = await recordsOf(sql, new Set(seen.map(fingerprintOf)));
  return {
    id,
    rows,
    meta: Object.fromEntries(meta.map(({ key, value }) => [String(key), String(value)])),
    // A claim that was read from another store is that one's to keep, or to release.
    alerts: alerts.map((one) => (issues.has(one.issueId) ? one : { ...one, ...NO_CLAIM })),
  };
}

const fingerprintOf = ({ fingerprint }: SqlRow) => String(fingerprint);
const issueIdOf = ({ issue_id = null }: SqlRow) => issue_id;
const NO_CLAIM = { issueId: null, issueUrl: null, claimUntilMs: 0 };

/**
 * Takes over what another store has, in the caller's transaction; returns how many rows that wait it took.
 *
 * Behaviour: rows are taken over once, also when the answer to the commit was lost. An issue that waits there, and whose
 *            fingerprint has another one here, is not created; its comments go to that one. A row that is being sent
 *            there counts as one whose end was never recorded.
 */
export async function adoptContents(sql: Sql, { id, alerts, rows, meta = {} }: Contents): Promise<number> {
  const { firstId, nowMs } = await takeIds(sql, rows.length);
  const dead = new Set(rows.filter(({ kind, state }) => kind === "issue" && state === "dead").map(issueIdOf));
  const known = await recordsOf(sql, new Set(alerts.map(({ fingerprint }) => fingerprint)));
  const here = new Map(known.map((record) => [record.fingerprint, record]));
  const merged = alerts.map((record) => merge(here.get(record.fingerprint), record, dead, nowMs));
  await saveRecords(sql, merged);
  const mark = `adopted:${id}`;
  const adoptedTo = Number((await readMeta(sql, mark)) ?? 0);
  const fresh = rows.filter((row) => Number(row.id) > adoptedTo);
  if (fresh.length === 0) return 0;
  const replace = "on conflict (key) do update set value = excluded.value";
  await sql.insert("meta", ["key", "value"], [[mark, String(fresh.at(-1)!.id)]], replace);
  const issueOf = new Map(merged.map(({ fingerprint, issueId }) => [fingerprint, issueId]));
  const replaced = new Map<SqlValue | undefined, SqlValue>();
  const taken = fresh.filter(({ kind, state, fingerprint, issue_id }) => {
    const issueId = issueOf.get(String(fingerprint)) ?? null;
    if (kind !== "issue" || state !== "queued" || issueId === issue_id) return true;
    replaced.set(issue_id, issueId);
    return false;
  });
  const ids = new Map(taken.map((row, at) => [row.id, firstId + at]));
  const columns = Object.keys(rows[0]!);
  const adopted = (row: SqlRow, column: string) => {
    const value = row[column] ?? null;
    if (column === "id" || column === "digest") return ids.get(value) ?? null;
    return column === "issue_id" ? (replaced.get(value) ?? value) : value;
  };
  await sql.insert(
    "outbox",
    columns,
    taken.map((row) => columns.map((column) => adopted(row, column))),
  );
  await addToNote(sql, { emailed: Number(meta.emailed ?? 0), undelivered: Number(meta.undelivered ?? 0) });
  for (const kind of OUTBOX_KINDS) {
    const key = `pace:${kind}`;
    const pace = meta[key] ?? null;
    if (paceAheadOf(pace, nowMs) <= paceAheadOf(await readMeta(sql, key), nowMs)) continue;
    await sql.insert("meta", ["key", "value"], [[key, pace]], replace);
  }
  return taken.filter(({ state }) => state === "queued").length;
}

/** What is known of a fingerprint to two stores: what was seen there, and the claim that is in force here. */
function merge(
  here: AlertRecord | undefined,
  there: AlertRecord,
  dead: ReadonlySet<SqlValue>,
  nowMs: number,
): AlertRecord {
  if (here === undefined || here.issueId === null || dead.has(here.issueId)) return there;
  if (there.issueId !== null && here.claimUntilMs <= nowMs) return there;
  const { issueId, claimUntilMs } = here;
  const url = there.issueId === issueId ? there.issueUrl : null;
  return { ...there, issueId, issueUrl: here.issueUrl ?? url, claimUntilMs };
}
