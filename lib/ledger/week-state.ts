import type postgres from "postgres";

/** A closed week: instants in canonical UTC text; the start is included, the end is not. */
export type WeekBounds = { start: string; end: string };

/** The deliveries of one channel in a week, each owner's once. */
export type WeekDeliveries = {
  sent: number;
  /** Sent, but the owner's timeline lacks the entry. */
  partial: number;
  failed: number;
  unknown: number;
  /** A process is sending it, inside its lease. */
  running: number;
  /** The report is completed and has no row for this channel. */
  missing: number;
};

/** Everything that the ledger holds of one week, no matter which run made it. */
export type WeekState = {
  /** The owners who get a report now. */
  owners: number;
  reports: { completed: number; running: number; failed: number; missing: number };
  whatsapp: WeekDeliveries;
  email: WeekDeliveries;
  /** Networks that the application was asked for, those of them that failed, and the owners of the failed ones. */
  social: { connected: number; failed: number; owners: number };
  /** What failed or is missing for owners who get no reports any more; it cannot be mended. */
  noLongerEligible: { reports: number; whatsapp: number; email: number };
  /** The newest earlier week with completed reports, and how many owners had one; null where there is none. */
  before: { week: string; owners: number } | null;
};

/**
 * The state of one week as the database's clock sees it.
 *
 * Behaviour: with an expired lease a report counts as failed, a delivery as failed before its dispatch and as unknown
 *            after.
 */
export async function readWeekState(sql: postgres.ISql, { start, end }: WeekBounds): Promise<WeekState> {
  const [row] = await sql`
    select public.weekly_performance_week(
      p_window_start => ${start}::text::timestamptz, p_window_end => ${end}::text::timestamptz) as week`;
  return row!.week;
}
