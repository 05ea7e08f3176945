import type postgres from "postgres";
import { type ReportWeek, readReportWeek } from "../ledger/report-week.ts";
import { readWeekState, type WeekState } from "../ledger/week-state.ts";
import { isWeekClean } from "../ledger/week-verdict.ts";
import { isRunDue } from "./week-stage.ts";

/** A closed week as the ledger has it. */
export type LedgerWeek = Omit<ReportWeek, "now"> & {
  /** False on a Monday until a run has begun at 08:00, or should have (08:15). */
  runDue: boolean;
  /** True when the weekly run would call this week a success. */
  clean: boolean;
  /** False on a database in which no run, of whatever host, has begun a report of any week. */
  hasRun: boolean;
  counts: WeekState;
};

/**
 * The week that begins on `week`, or the last closed one.
 *
 * Errors: WEEK_NOT_CLOSED.
 */
export async function readLedgerWeek(sql: postgres.ISql, week?: string): Promise<LedgerWeek> {
  const wanted = await readReportWeek(sql, week);
  const counts = await readWeekState(sql, wanted);
  return ledgerWeekOf(wanted, counts, await hasReports(sql));
}

/** The week that these counts are of. */
export function ledgerWeekOf({ now, ...week }: ReportWeek, counts: WeekState, hasRun: boolean): LedgerWeek {
  const { retryableUntil } = week;
  const runDue = isRunDue({ now, retryableUntil }, counts);
  return { ...week, runDue, clean: isWeekClean(counts), hasRun, counts };
}

async function hasReports(sql: postgres.ISql): Promise<boolean> {
  const [row] = await sql<[{ exists: boolean }]>`
    select exists (select from public.weekly_performance_reports) as exists`;
  return row.exists;
}
