import type postgres from "postgres";
import type { WeekBounds } from "../../ledger/week-state.ts";
import type { DeliveryChannelName, KnownDelivery } from "./deliveries.ts";
import type { Scope } from "./recipients.ts";

/** A connection whose weekly analysis the application is asked for. */
export type Connection = { id: string; network: "instagram" | "linkedin" };

/** The claim of one report; it has a token when this process may work on it. */
export type ReportClaim =
  | { outcome: "busy" }
  | { outcome: "ineligible" }
  | CompletedClaim
  | {
      outcome: "claimed" | "resumed" | "taken_over";
      reportId: string;
      token: string;
      connections: Connection[];
    };

/** The claim of a report that is complete: its stored payload, unchecked, and its deliveries by channel. */
export type CompletedClaim = {
  outcome: "completed";
  reportId: string;
  payload: unknown;
  deliveries: Partial<Record<DeliveryChannelName, KnownDelivery>>;
};

/** A report that this process may write, while the claim's lease lasts. */
export type ClaimedReport = { id: string; token: string; scope: Scope; window: WeekBounds };

/** What a report's row keeps when the report is completed. */
export type ReportContent = {
  schemaVersion: number;
  fingerprint: string;
  evidence: string;
  payload: unknown;
};

/**
 * Steps 1 and 2: claims the report and lists the owner's active connections.
 *
 * Behaviour: the token is the caller's, one for each claim: asked again with it after a lost answer, the database
 *            returns the same claim.
 */
export async function claimReport(
  sql: postgres.Sql,
  scope: Scope,
  window: WeekBounds,
  schemaVersion: number,
  claimToken: string,
): Promise<ReportClaim> {
  const [row] = await sql`
    with claim as materialized (
      select * from public.claim_weekly_performance_report(
        p_tenant_id => ${scope.tenantId}::uuid, p_user_id => ${scope.userId}::uuid,
        p_window_start => ${window.start}::text::timestamptz,
        p_window_end => ${window.end}::text::timestamptz,
        p_schema_version => ${schemaVersion}::integer, p_claim_token => ${claimToken}::uuid)
    )
    select c.report_id, c.outcome, c.claim_token,
      (select r.payload from public.weekly_performance_reports as r
       where r.id = c.report_id and c.outcome = 'completed' and r.status = 'completed') as payload,
      (select coalesce(jsonb_agg(jsonb_build_object('id', s.id, 'network', s.network)
                                 order by s.network, s.created_at, s.id), '[]')
       from public.social_connections as s
       where c.claim_token is not null
         and s.tenant_id = ${scope.tenantId}::uuid and s.user_id = ${scope.userId}::uuid
         and s.status = 'active' and s.network in ('instagram', 'linkedin')) as connections,
      -- Only of a completed report: a plan made while the table was empty would read all of it each time.
      case when c.outcome = 'completed' then
        (select coalesce(jsonb_object_agg(d.channel, jsonb_build_object(
                  'id', d.id, 'status', d.status, 'errorCode', d.error_code)), '{}')
         from public.weekly_performance_deliveries as d where d.report_id = c.report_id)
      else '{}' end as deliveries
    from claim as c`;
  if (!row) throw new Error("claim_weekly_performance_report answered no row");
  const { outcome, report_id: reportId } = row;
  if (outcome === "busy" || outcome === "ineligible") return { outcome };
  if (outcome !== "completed")
    return { outcome, reportId, token: row.claim_token, connections: row.connections };
  // Completed by another process while this claim waited for it: not yet in the statement's snapshot.
  const payload = row.payload ?? (await readPayload(sql, reportId));
  return { outcome, reportId, payload, deliveries: row.deliveries };
}

/** A connection of an owner whose report is complete. */
export type AnalysedConnection = { reportId: string; scope: Scope; connection: Connection };

/** Of whose reports connections are wanted: `after` is the id of the report asked last, in the order of the ids. */
export type AnalysedPage = { tenantId: string | null; after: string; limit: number };

/** Connections that were analysed in this week's completed reports and are still active, one per owner. */
export async function listAnalysedConnections(
  sql: postgres.Sql,
  window: WeekBounds,
  { tenantId, after, limit }: AnalysedPage,
): Promise<AnalysedConnection[]> {
  // The ids are sorted before a payload is read: a payload costs more than a row.
  const rows = await sql`
    with turn as materialized (
      select r.id from public.weekly_performance_reports as r
      where r.window_start = ${window.start}::text::timestamptz
        and r.window_end = ${window.end}::text::timestamptz and r.status = 'completed'
        and (${tenantId}::uuid is null or r.tenant_id = ${tenantId}::uuid) and r.id > ${after}::uuid
      order by r.id)
    select turn.id as report_id, c.tenant_id, c.user_id, c.id, c.network
    from turn
    cross join lateral (
      select r.tenant_id, r.user_id, s.id, s.network
      from public.weekly_performance_reports as r
      join public.social_connections as s on s.tenant_id = r.tenant_id and s.user_id = r.user_id
      where r.id = turn.id and s.status = 'active' and s.network in ('instagram', 'linkedin')
        and r.payload #>> array['channels', s.network, 'status'] = 'available'
      order by s.network, s.created_at, s.id limit 1) as c
    limit ${limit}`;
  return rows.map(({ report_id, tenant_id, user_id, id, network }) => ({
    reportId: report_id,
    scope: { tenantId: tenant_id, userId: user_id },
    connection: { id, network },
  }));
}

/** Step 6: completes the report and returns the payload as the row keeps it. */
export async function persistReport(
  sql: postgres.Sql,
  report: ClaimedReport,
  content: ReportContent,
): Promise<unknown> {
  const [row] = await sql`select ${persistCall(sql, report, content)} as payload`;
  return row!.payload;
}

/** The call that completes a report, for a statement; its value is the payload as stored. */
export function persistCall(
  sql: postgres.Sql,
  { id, token, scope, window }: ClaimedReport,
  { schemaVersion, fingerprint, evidence, payload }: ReportContent,
) {
  return sql`
    public.persist_weekly_performance_report(
      p_report_id => ${id}::uuid, p_claim_token => ${token}::uuid,
      p_tenant_id => ${scope.tenantId}::uuid, p_user_id => ${scope.userId}::uuid,
      p_window_start => ${window.start}::text::timestamptz,
      p_window_end => ${window.end}::text::timestamptz,
      p_schema_version => ${schemaVersion}::integer, p_fingerprint => ${fingerprint}::text,
      p_evidence => ${evidence}::text, p_payload => ${JSON.stringify(payload)}::text::jsonb)`;
}

/** Marks a claimed report as failed, with the reason's code. */
export async function failReport(
  sql: postgres.Sql,
  { id, token }: Pick<ClaimedReport, "id" | "token">,
  errorCode: string,
): Promise<void> {
  await sql`
    select public.fail_weekly_performance_report(
      p_report_id => ${id}::uuid, p_claim_token => ${token}::uuid, p_error_code => ${errorCode}::text)`;
}

async function readPayload(sql: postgres.Sql, reportId: string): Promise<unknown> {
  const [row] = await sql`select payload from public.weekly_performance_reports where id = ${reportId}::uuid`;
  return row?.payload;
}
