import type postgres from "postgres";
import { OpsError } from "../platform/errors.ts";

/** What pruning did: reports of weeks that begin before `before` lost their content; `left` when some may be left. */
export type Pruned = { before: string; reports: number; left: boolean };

/** Rows of one statement: few enough for a lock of a moment, many enough for years of weeks in minutes. */
const BATCH = 1_000;

/**
 * Removes payload and evidence of the reports of older weeks; keys, states and fingerprints stay.
 *
 * Behaviour: in batches, each committed; may be ended between two of them and repeated. Passes over what another
 *            session works on, and says that it is left.
 * Errors:    PRUNE_WEEK_TOO_YOUNG before anything is removed.
 */
export async function pruneReports(
  sql: postgres.Sql,
  before: string,
  interrupt: AbortSignal,
): Promise<Pruned> {
  let reports = 0;
  for (;;) {
    if (interrupt.aborted) return { before, reports, left: true };
    const pruned = await pruneBatch(sql, before);
    reports += pruned;
    if (pruned === 0) return { before, reports, left: await isAnyLeft(sql, before) };
  }
}

/** A batch passes over what another session holds: that is not removed yet. */
async function isAnyLeft(sql: postgres.Sql, before: string): Promise<boolean> {
  const [row] = await sql<[{ left: boolean }]>`
    select exists (
      select from public.weekly_performance_reports as r
      where r.window_start < (${before}::text::date::timestamp at time zone 'America/Sao_Paulo')
        and r.status = 'completed' and r.pruned_at is null) as left`;
  return row.left;
}

async function pruneBatch(sql: postgres.Sql, before: string): Promise<number> {
  try {
    const [row] = await sql<[{ pruned: number }]>`
      select public.prune_weekly_performance_reports(
        p_before => ${before}::text::date::timestamp at time zone 'America/Sao_Paulo', p_limit => ${BATCH}) as pruned`;
    return row.pruned;
  } catch (error) {
    if ((error as { code?: unknown } | null)?.code === "OW014") throw await tooYoung(sql, before);
    throw error;
  }
}

async function tooYoung(sql: postgres.Sql, before: string): Promise<OpsError> {
  const [row] = await sql<[{ latest: string }]>`
    select to_char((w.window_end at time zone 'America/Sao_Paulo')::date - 56, 'YYYY-MM-DD') as latest
    from public.weekly_performance_window(public.weekly_performance_now()) as w`;
  return new OpsError({
    code: "PRUNE_WEEK_TOO_YOUNG",
    message: `Cannot remove the content of weeks before ${before}: a week keeps it for eight weeks after it has closed`,
    hint: `The latest date is ${row.latest} now`,
  });
}
