import type postgres from "postgres";
import { timelineCause } from "../ledger/timeline-cause.ts";
import { noAnswer } from "../platform/database/error.ts";
import { withTimeout } from "../platform/timeout.ts";

/**
 * What became of the missing timeline entries.
 *
 * Shape: `failed` still lack theirs, of which `failedIds` names a hundred at most; `causes` says why, each SQLSTATE with
 *        its constraint once; `remaining` were not tried.
 */
export type Repair = {
  repaired: number;
  failed: number;
  failedIds: string[];
  causes: string[];
  remaining: number;
};

const BATCH = 100;
/** A batch waits for nothing but the database. */
const BATCH_LIMIT_MS = 60_000;
/** So many in a row are no accident: whatever refuses these entries refuses the others, too. */
const FAILED_IN_A_ROW = 1_000;
const NAMED = 100;

/**
 * Writes the timeline entries that sent deliveries lack, on any day, the oldest first.
 *
 * Behaviour: each entry is a transaction of its own in the database's function, so that an interruption, or a second
 *            operator, loses and doubles nothing. Gives up after a thousand failures in a row.
 * Errors:    those of the database; DATABASE_TIMEOUT for a batch that takes more than a minute.
 */
export async function repairDeliveries(
  sql: postgres.Sql,
  { interrupt, limitMs = BATCH_LIMIT_MS }: { interrupt?: AbortSignal; limitMs?: number } = {},
): Promise<Repair> {
  const ids = await within(limitMs, () => readUnwritten(sql));
  const result: Repair = { repaired: 0, failed: 0, failedIds: [], causes: [], remaining: ids.length };
  let inARow = 0;
  for (let at = 0; at < ids.length && inARow < FAILED_IN_A_ROW && !interrupt?.aborted; at += BATCH) {
    const batch = ids.slice(at, at + BATCH);
    const tried = await within(limitMs, () => repairEach(sql, batch));
    const failed = batch.filter((_, index) => !tried[index]!.isWritten);
    inARow = failed.length === batch.length ? inARow + failed.length : 0;
    result.repaired += batch.length - failed.length;
    result.failed += failed.length;
    result.failedIds.push(...failed.slice(0, NAMED - result.failedIds.length));
    result.causes = [...new Set([...result.causes, ...tried.flatMap(({ causes }) => causes)])];
    result.remaining -= batch.length;
  }
  return result;
}

async function readUnwritten(sql: postgres.Sql): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select d.id from public.weekly_performance_deliveries as d
    where d.status = 'sent' and d.error_code is not null and d.error_code = 'timeline_entry_failed'
    order by d.created_at, d.id`;
  return rows.map(({ id }) => id);
}

/** All of a batch under way at once: the driver sends them in one go, and the database takes them one by one. */
async function repairEach(sql: postgres.Sql, ids: readonly string[]): Promise<Tried[]> {
  return await Promise.all(ids.map((id) => repairOne(sql, id)));
}

type Tried = { isWritten: boolean; causes: string[] };

async function repairOne(sql: postgres.Sql, id: string): Promise<Tried> {
  try {
    const [row] = await sql<[{ code: string | null; cause: string | null }?]>`
      select error_code as code, ${timelineCause(sql)} as cause
      from public.repair_weekly_performance_delivery(p_delivery_id => ${id}::uuid)`;
    const isWritten = row?.code !== "timeline_entry_failed";
    return { isWritten, causes: isWritten || !row.cause ? [] : [row.cause] };
  } catch (error) {
    // Nothing is missing any more: it went with its tenant or user meanwhile.
    if ((error as { code?: unknown }).code === "OW021") return { isWritten: true, causes: [] };
    throw error;
  }
}

async function within<T>(limitMs: number, work: () => Promise<T>): Promise<T> {
  return await withTimeout({ limitMs }, work, () => {
    throw noAnswer();
  });
}
