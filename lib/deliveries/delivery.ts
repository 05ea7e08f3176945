import type postgres from "postgres";

/** The states of the ledger. */
export const DELIVERY_STATES = ["pending", "running", "sent", "failed", "unknown"] as const;

/** A row of the ledger for the operator: masks, ids and codes, never a number or an address. */
export type Delivery = {
  id: string;
  /** The first local date of the report's week. */
  week: string;
  tenantId: string;
  userId: string;
  reportId: string;
  channel: "whatsapp" | "email";
  /** As it is: an expired lease means `unknown` after dispatch and `failed` before it, whatever the row says. */
  state: (typeof DELIVERY_STATES)[number];
  code: string | null;
  attempts: number;
  maskedHint: string | null;
  senderTenantId: string | null;
  providerMessageId: string | null;
  leaseExpiresAt: string | null;
  dispatchedAt: string | null;
  settledAt: string | null;
  /** Until when a run may try a `failed` delivery again; null when none may. */
  retryableUntil: string | null;
};

/**
 * The state of a delivery as it is, for a query whose deliveries are `d`.
 *
 * Source: weekly_performance_delivery_state() in sql/0006.
 */
export function effectiveState(sql: postgres.Sql): postgres.PendingQuery<postgres.Row[]> {
  return sql`public.weekly_performance_delivery_state(
    d.status, d.dispatched_at, d.lease_expires_at, public.weekly_performance_now())`;
}

/**
 * The columns of a `Delivery`, for `from public.weekly_performance_deliveries as d join ..._reports as r`.
 *
 * Instants are text in UTC. A failed delivery may be tried again on the Monday that follows its week, and never after.
 */
export function deliveryColumns(sql: postgres.Sql): postgres.PendingQuery<postgres.Row[]> {
  return sql`
    d.id, to_char(r.window_start at time zone 'America/Sao_Paulo', 'YYYY-MM-DD') as week,
    d.tenant_id as "tenantId", d.user_id as "userId", d.report_id as "reportId", d.channel,
    ${effectiveState(sql)} as state,
    case when d.status = ${effectiveState(sql)} then d.error_code
         when d.dispatched_at is null then 'lease_expired_before_dispatch'
         else 'lease_expired_after_dispatch' end as code,
    d.attempts, d.masked_hint as "maskedHint", d.sender_tenant_id as "senderTenantId",
    d.provider_message_id as "providerMessageId",
    ${instant(sql, sql`case when ${effectiveState(sql)} = 'running' then d.lease_expires_at end`)} as "leaseExpiresAt",
    ${instant(sql, sql`d.dispatched_at`)} as "dispatchedAt", ${instant(sql, sql`d.settled_at`)} as "settledAt",
    case when ${effectiveState(sql)} = 'failed'
           and public.weekly_performance_is_report_day(public.weekly_performance_now())
           and exists (select from public.weekly_performance_window(public.weekly_performance_now()) as w
                       where w.window_start = r.window_start and w.window_end = r.window_end)
         then ${instant(
           sql,
           sql`((r.window_end at time zone 'America/Sao_Paulo')::date + 1)::timestamp
               at time zone 'America/Sao_Paulo'`,
         )} end as "retryableUntil"`;
}

/** An instant of the database as text in UTC, to the second. */
export function instant(
  sql: postgres.Sql,
  expression: postgres.PendingQuery<postgres.Row[]>,
): postgres.PendingQuery<postgres.Row[]> {
  return sql`to_char((${expression}) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`;
}
