import type postgres from "postgres";
import { hasReports } from "../ledger/has-reports.ts";
import { readOnly } from "../ledger/read-only.ts";
import { type ReportWeek, readReportWeek } from "../ledger/report-week.ts";
import { readWeekState, type WeekBounds, type WeekState } from "../ledger/week-state.ts";
import { isWeekClean, type SocialCode, socialVerdict } from "../ledger/week-verdict.ts";
import { type OpenCount, type OpenItem, openItems, readOpenRows, readWorstNetwork } from "./open-item.ts";
import { isRunDue } from "./week-stage.ts";

/** A week in one screen. */
export type WeekStatus = Omit<ReportWeek, "now"> & {
  /** False on a Monday until a run has begun at 08:00, or should have (08:15). */
  runDue: boolean;
  /** True when the weekly run would call this week a success. */
  clean: boolean;
  /** False on a database in which no run, of whatever host, has begun a report of any week. */
  hasRun: boolean;
  counts: WeekState;
  /** Reports whose content was removed: what it said of networks is in no count. */
  contentRemoved: number;
  /** When the ledger of this week was last written to; null when it is empty. */
  changedAt: string | null;
  open: OpenItem[];
};

/**
 * What the ledger says about the week that begins on `week`, or about the last closed one.
 *
 * Behaviour: reads only, on one view of the database. Knows of every run, on whatever host.
 * Errors:    WEEK_NOT_CLOSED.
 */
export async function readWeekStatus(sql: postgres.Sql, week: string | undefined): Promise<WeekStatus> {
  return await readOnly(sql, async (tx) => {
    const { now, ...wanted } = await readReportWeek(tx, week);
    const counts = await readWeekState(tx, wanted);
    const clean = isWeekClean(counts);
    const hasRun = await hasReports(tx);
    const contentRemoved = await countContentRemoved(tx, wanted);
    const rows = await readOpenRows(tx, wanted);
    const social = socialItem(counts);
    const network = social.length === 0 ? "" : await readWorstNetwork(tx, wanted);
    const open = openItems([...rows.counts, ...social], { ...wanted, network });
    const { changedAt } = rows;
    const runDue = isRunDue({ now, ...wanted }, counts);
    return { ...wanted, runDue, clean, hasRun, counts, contentRemoved, changedAt, open };
  });
}

async function countContentRemoved(sql: postgres.ISql, { start, end }: WeekBounds): Promise<number> {
  const [row] = await sql<[{ count: number }]>`
    select count(*)::int as count from public.weekly_performance_reports as r
    where r.window_start = ${start}::text::timestamptz and r.window_end = ${end}::text::timestamptz
      and r.pruned_at is not null`;
  return row.count;
}

function socialItem(counts: WeekState): OpenCount[] {
  const code: SocialCode | null = socialVerdict(counts);
  return code === null ? [] : [{ step: "social", state: "failed", code, count: counts.social.failed }];
}
