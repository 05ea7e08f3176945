import type postgres from "postgres";
import type { Reconciliation } from "../ledger/reconciliation.ts";
import type { OwnerDeliveryState, OwnerReportState } from "../ledger/week-owners.ts";

/** A stored report as its row and payload tell it; instants in UTC text. */
export type StoredReport = {
  id: string;
  state: Exclude<OwnerReportState, "missing">;
  code: string | null;
  schemaVersion: number;
  attempts: number;
  claimedAt: string;
  changedAt: string;
  leaseExpiresAt: string | null;
  completedAt: string | null;
  prunedAt: string | null;
  coverage: "complete" | "partial" | null;
  fingerprint: string | null;
  /** From the payload: null where that was removed. */
  score: number | null;
  version: string | null;
  withoutData: { channel: string; reason: string }[] | null;
};

/** A delivery of the report, with everything that happened to it. */
export type StoredDelivery = {
  id: string;
  channel: "whatsapp" | "email";
  state: Exclude<OwnerDeliveryState, "missing">;
  code: string | null;
  attempts: number;
  claimedAt: string;
  leaseExpiresAt: string | null;
  dispatchedAt: string | null;
  settledAt: string | null;
  maskedHint: string | null;
  senderTenantId: string | null;
  providerMessageId: string | null;
  reconciliations: Reconciliation[];
};

/** A report with its deliveries, WhatsApp first. */
export type ReportDetails = { report: StoredReport; deliveries: StoredDelivery[] };

/** Everything that the ledger keeps of one report; null when there is none with this id. */
export async function readReportDetails(sql: postgres.ISql, id: string): Promise<ReportDetails | null> {
  const [report] = await sql<StoredReport[]>`
    select r.id, public.weekly_performance_report_state(r.status, r.lease_expires_at, clock.now) as state,
      r.error_code as code, r.schema_version as "schemaVersion", r.attempts,
      ${instant(sql, "r.created_at")} as "claimedAt", ${instant(sql, "r.updated_at")} as "changedAt",
      case when r.status = 'running' then ${instant(sql, "r.lease_expires_at")} end as "leaseExpiresAt",
      ${instant(sql, "r.completed_at")} as "completedAt", ${instant(sql, "r.pruned_at")} as "prunedAt",
      r.coverage_status as coverage, r.fingerprint, r.payload -> 'accountScore' -> 'score' as score,
      r.payload -> 'provenance' -> 'worker' ->> 'version' as version, ${withoutData(sql)} as "withoutData"
    from public.weekly_performance_reports as r, public.weekly_performance_now() as clock(now)
    where r.id = ${id}::uuid`;
  if (!report) return null;
  const deliveries = await sql<StoredDelivery[]>`
    select d.id, d.channel,
      case when d.status = 'sent' and d.error_code is not null then 'partial' when d.status = 'pending' then 'failed'
           else public.weekly_performance_delivery_state(d.status, d.dispatched_at, d.lease_expires_at, clock.now)
           end as state,
      d.error_code as code, d.attempts, ${instant(sql, "d.created_at")} as "claimedAt",
      case when d.status = 'running' then ${instant(sql, "d.lease_expires_at")} end as "leaseExpiresAt",
      ${instant(sql, "d.dispatched_at")} as "dispatchedAt", ${instant(sql, "d.settled_at")} as "settledAt",
      d.masked_hint as "maskedHint", d.sender_tenant_id as "senderTenantId",
      d.provider_message_id as "providerMessageId", ${reconciliations(sql)} as reconciliations
    from public.weekly_performance_deliveries as d, public.weekly_performance_now() as clock(now)
    where d.report_id = ${id}::uuid
    order by d.channel desc`;
  return { report, deliveries: [...deliveries] };
}

type Fragment = postgres.PendingQuery<postgres.Row[]>;

/** The channels that the payload of a report `r` has no data of, without those that no report has. */
export function withoutData(sql: postgres.ISql): Fragment {
  return sql`
    case when r.payload is not null then
      (select coalesce(json_agg(json_build_object('channel', c.name, 'reason', c.entry ->> 'reason')
                                order by c.rank), '[]')
       -- Offset: or the payload is unpacked for each use of an entry, which takes most of the time of a long list.
       from (select n.name, n.rank, p.channels -> n.name as entry
             from (select r.payload -> 'channels' as channels offset 0) as p,
               unnest('{email,instagram,linkedin,blog,tiktok}'::text[]) with ordinality as n(name, rank)) as c
       where c.entry ->> 'status' = 'unavailable' and c.entry ->> 'reason' <> 'not_integrated') end`;
}

function reconciliations(sql: postgres.ISql): Fragment {
  return sql`
    (select coalesce(json_agg(json_build_object(
              'state', c.status, 'providerMessageId', c.provider_message_id, 'reason', c.reason, 'actor', c.actor,
              'sessionUser', c.session_user_name, 'at', ${instant(sql, "c.created_at")})
              order by c.created_at, c.id), '[]')
     from public.weekly_performance_reconciliations as c where c.delivery_id = d.id)`;
}

function instant(sql: postgres.ISql, column: string): Fragment {
  return sql`to_char(${sql(column)} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`;
}
