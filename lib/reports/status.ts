import type postgres from "postgres";
import { readOnly } from "../ledger/read-only.ts";
import type { WeekBounds, WeekState } from "../ledger/week-state.ts";
import { type SocialCode, socialVerdict } from "../ledger/week-verdict.ts";
import { type LedgerWeek, readLedgerWeek } from "./ledger-week.ts";
import { type OpenCount, type OpenItem, openItems, readOpenRows, readWorstNetwork } from "./open-item.ts";

/** A week in one screen. */
export type WeekStatus = LedgerWeek & {
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
    const ledger = await readLedgerWeek(tx, week);
    const contentRemoved = await countContentRemoved(tx, ledger);
    const rows = await readOpenRows(tx, ledger);
    const social = socialItem(ledger.counts);
    const network = social.length === 0 ? "" : await readWorstNetwork(tx, ledger);
    const open = openItems([...rows.counts, ...social], { ...ledger, network });
    return { ...ledger, contentRemoved, changedAt: rows.changedAt, open };
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
