import type postgres from "postgres";
import { readOnly } from "../ledger/read-only.ts";
import { type ReportWeek, readReportWeek } from "../ledger/report-week.ts";
import { readOwnersOfTenant, type WeekOwner } from "../ledger/week-owners.ts";
import { OpsError } from "../platform/errors.ts";
import { type ReportDetails, readReportDetails } from "./details.ts";
import { type TimelineEntry, timelineOf } from "./timeline.ts";

/** One owner's week: the report with its timeline, or null where no run has made one; `next` are commands. */
export type ShownReport = Pick<ReportWeek, "week" | "lastDate"> &
  Pick<WeekOwner, "tenantId" | "tenantName" | "userId"> & {
    eligible: boolean;
    details: ReportDetails | null;
    timeline: TimelineEntry[];
    next: string[];
  };

/** Which reports to show: one by its id, or those of a tenant in a week. */
export type ShowTarget = { reportId: string } | { tenantId: string; week: string | undefined };

/**
 * What happened to one report, or to those of one tenant.
 *
 * Behaviour: reads only, on one view of the database.
 * Errors:    REPORT_NOT_FOUND; WEEK_NOT_CLOSED.
 */
export async function showReports(sql: postgres.Sql, target: ShowTarget): Promise<ShownReport[]> {
  return await readOnly(sql, async (tx) => {
    if ("reportId" in target) return [await showOne(tx, target.reportId)];
    const week = await readReportWeek(tx, target.week);
    const owners = await readOwnersOfTenant(tx, week, target.tenantId);
    if (owners.length === 0) throw noneOfTenant(target.tenantId, week.week);
    const shown: ShownReport[] = [];
    for (const owner of owners) shown.push(await showOwner(tx, week, owner, owner.reportId));
    return shown;
  });
}

async function showOne(sql: postgres.ISql, reportId: string): Promise<ShownReport> {
  const [row] = await sql<{ week: string; tenantId: string; userId: string }[]>`
    select to_char(r.window_start at time zone 'America/Sao_Paulo', 'YYYY-MM-DD') as week,
           r.tenant_id as "tenantId", r.user_id as "userId"
    from public.weekly_performance_reports as r where r.id = ${reportId}::uuid`;
  if (!row) throw noSuchReport(reportId);
  const week = await readReportWeek(sql, row.week);
  const owners = await readOwnersOfTenant(sql, week, row.tenantId);
  return await showOwner(sql, week, owners.find(({ userId }) => userId === row.userId)!, reportId);
}

async function showOwner(
  sql: postgres.ISql,
  week: ReportWeek,
  { tenantId, tenantName, userId, isEligible: eligible }: WeekOwner,
  reportId: string | null,
): Promise<ShownReport> {
  const details = reportId === null ? null : await readReportDetails(sql, reportId);
  return {
    week: week.week,
    lastDate: week.lastDate,
    tenantId,
    tenantName,
    userId,
    eligible,
    details,
    timeline: details === null ? [] : timelineOf(details),
    next: nextCommands(details, { eligible, retryableUntil: week.retryableUntil }),
  };
}

/** The commands that come next; none for a report that is done, and none that could no longer change anything. */
function nextCommands(
  details: ReportDetails | null,
  { eligible, retryableUntil }: { eligible: boolean; retryableUntil: string | null },
): string[] {
  const deliveries = details?.deliveries ?? [];
  const isSentWhole = details?.report.state === "completed" && deliveries.length === 2;
  const hasFailed = !isSentWhole || deliveries.some(({ state }) => state === "failed");
  return [
    ...(hasFailed && eligible && retryableUntil !== null ? ["opsctl weekly"] : []),
    ...deliveries
      .filter(({ state }) => state === "unknown")
      .map(({ id }) => `opsctl deliveries look-up ${id}`),
    ...(deliveries.some(({ state }) => state === "partial") ? ["opsctl deliveries repair"] : []),
  ];
}

function noSuchReport(id: string): OpsError {
  return new OpsError({
    code: "REPORT_NOT_FOUND",
    message: `Cannot show report ${id}: there is no such report`,
    hint: "opsctl reports list shows the owners; --json has the ids of their reports",
  });
}

function noneOfTenant(tenantId: string, week: string): OpsError {
  return new OpsError({
    code: "REPORT_NOT_FOUND",
    message: `Cannot show tenant ${tenantId} in the week of ${week}: it has no report, and no owner who gets one`,
    hint: "A tenant needs an owner, must not be archived, and its wallet must be active or in grace",
  });
}
