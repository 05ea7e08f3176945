import type postgres from "postgres";
import type { WeekBounds } from "./week-state.ts";

/** Where the report of an owner stands; `missing` when no run has made one. */
export type OwnerReportState = "completed" | "running" | "failed" | "missing";

/** Where a delivery of a completed report stands; `partial` is sent without its timeline entry. */
export type OwnerDeliveryState = "sent" | "partial" | "failed" | "unknown" | "running" | "missing";

/** An owner of a week as `weekly_performance_week` counts them. */
export type WeekOwner = {
  tenantId: string;
  tenantName: string | null;
  userId: string;
  /** Whether the owner gets reports now. */
  isEligible: boolean;
  reportId: string | null;
  reportState: OwnerReportState;
};

/** The owners of one tenant in a week: those who get a report now, and those who have one. */
export async function readOwnersOfTenant(
  sql: postgres.ISql,
  { start, end }: WeekBounds,
  tenantId: string,
): Promise<WeekOwner[]> {
  return await sql<WeekOwner[]>`
    select o.tenant_id as "tenantId", o.tenant_name as "tenantName", o.user_id as "userId",
           o.eligible as "isEligible", o.report_id as "reportId", o.report_state as "reportState"
    from public.weekly_performance_week_owners(
      p_window_start => ${start}::text::timestamptz, p_window_end => ${end}::text::timestamptz,
      p_tenant_id => ${tenantId}::uuid) as o
    order by o.user_id`;
}
