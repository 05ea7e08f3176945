import type postgres from "postgres";
import { type DeliveryClaim, deliveryClaim, owner } from "./deliveries.ts";
import { type ClaimedReport, persistCall, type ReportContent } from "./reports.ts";
import { newestInstance } from "./senders.ts";

/**
 * `persistReport` and `claimWhatsapp` for one report in one statement: both take place, or neither.
 *
 * Errors: those of both; then nothing was stored either.
 */
export async function persistAndClaimWhatsapp(
  sql: postgres.Sql,
  report: ClaimedReport,
  content: ReportContent,
  senderTenantId: string,
  claimToken: string,
): Promise<{ payload: unknown; claim: DeliveryClaim }> {
  const { id, scope } = report;
  const [row] = await sql`
    with stored as materialized (
      select ${persistCall(sql, report, content)} as payload
    ), claim as materialized (
      -- The condition makes the claim wait for the report.
      select c.* from stored as s, lateral public.claim_weekly_performance_delivery(
        p_report_id => case when s.payload is not null then ${id}::uuid end,
        p_channel => 'whatsapp', p_claim_token => ${claimToken}::uuid) as c
    )
    select s.payload, c.delivery_id, c.outcome, c.claim_token, u.phone as recipient,
      ${newestInstance(sql, senderTenantId)} as sender
    from stored as s
    cross join claim as c
    left join ${owner(sql, scope)}`;
  return { payload: row!.payload, claim: deliveryClaim(row) };
}
