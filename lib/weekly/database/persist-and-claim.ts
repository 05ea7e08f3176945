import type postgres from "postgres";
import { type DeliveryClaim, deliveryClaim } from "./deliveries.ts";
import type { ClaimedReport, ReportContent } from "./reports.ts";

/**
 * `persistReport` and `claimWhatsapp` for one report in one statement: both take place, or neither.
 *
 * Errors: those of both; then nothing was stored either.
 */
export async function persistAndClaimWhatsapp(
  sql: postgres.Sql,
  { id, token, scope, window }: ClaimedReport,
  content: ReportContent,
  senderTenantId: string,
  claimToken: string,
): Promise<{ payload: unknown; claim: DeliveryClaim }> {
  const [row] = await sql`
    with stored as materialized (
      select public.persist_weekly_performance_report(
        p_report_id => ${id}::uuid, p_claim_token => ${token}::uuid,
        p_tenant_id => ${scope.tenantId}::uuid, p_user_id => ${scope.userId}::uuid,
        p_window_start => ${window.start}::text::timestamptz,
        p_window_end => ${window.end}::text::timestamptz,
        p_schema_version => ${content.schemaVersion}::integer, p_fingerprint => ${content.fingerprint}::text,
        p_evidence => ${content.evidence}::text, p_payload => ${JSON.stringify(content.payload)}::text::jsonb
      ) as payload
    ), claim as materialized (
      -- The condition makes the claim wait for the report.
      select c.* from stored as s, lateral public.claim_weekly_performance_delivery(
        p_report_id => case when s.payload is not null then ${id}::uuid end,
        p_channel => 'whatsapp', p_claim_token => ${claimToken}::uuid) as c
    )
    select s.payload, c.delivery_id, c.outcome, c.claim_token, u.phone as recipient,
      (select i.instance_name from public.messaging_instances as i
       where i.tenant_id = ${senderTenantId}::uuid
       order by i.created_at desc, i.id desc limit 1) as sender
    from stored as s
    cross join claim as c
    left join public.users as u on u.tenant_id = ${scope.tenantId}::uuid and u.id = ${scope.userId}::uuid`;
  return { payload: row!.payload, claim: deliveryClaim(row) };
}
