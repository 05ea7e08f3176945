import type postgres from "postgres";
import { DELIVERY_STATES, type Delivery, effectiveState } from "../delivery.ts";
import { deliveryNotFound } from "../list.ts";

/**
 * A delivery that is to be looked up, with what is needed to ask about it.
 *
 * Shape: `recipient` is `users.phone` as it is today, and never leaves the look-up; `instanceName` is the sender
 *        tenant's instance that was the newest at the dispatch.
 * Units: `dispatchedAtMs` is the database's clock.
 */
export type Doubt = {
  id: string;
  channel: Delivery["channel"];
  week: string;
  tenantId: string;
  reportId: string;
  state: Delivery["state"];
  maskedHint: string | null;
  dispatchedAtMs: number;
  recipient: string | null;
  instanceName: string | null;
};

/** Another delivery that the same message could belong to. */
export type Rival = { id: string; reportId: string };

/**
 * The deliveries with these ids, or all that are in doubt, the earliest dispatch first.
 *
 * Errors: DELIVERY_NOT_FOUND for an id that no delivery has.
 */
export async function readDoubts(sql: postgres.Sql, ids: readonly string[] | null): Promise<Doubt[]> {
  const wanted =
    ids === null
      ? sql`d.status in ('unknown', 'running') and ${effectiveState(sql)} = 'unknown'`
      : sql`d.id in (select w.id::uuid from ${listOf(sql, ids)} as w(id))`;
  const rows = await sql<Doubt[]>`
    select d.id, d.channel, to_char(r.window_start at time zone 'America/Sao_Paulo', 'YYYY-MM-DD') as week,
           d.tenant_id as "tenantId", d.report_id as "reportId", ${effectiveState(sql)} as state,
           d.masked_hint as "maskedHint",
           coalesce(extract(epoch from d.dispatched_at) * 1000, 0)::float8 as "dispatchedAtMs", u.phone as recipient,
           (select i.instance_name from public.messaging_instances as i
            where i.tenant_id = d.sender_tenant_id
            order by (i.created_at <= d.dispatched_at) is true desc, i.created_at desc, i.id desc
            limit 1) as "instanceName"
    from public.weekly_performance_deliveries as d
    join public.weekly_performance_reports as r on r.id = d.report_id
    left join public.users as u on u.tenant_id = d.tenant_id and u.id = d.user_id
    where ${wanted}
    order by d.dispatched_at, d.id`;
  const found = new Set(rows.map(({ id }) => id));
  const missing = ids?.find((id) => !found.has(id));
  if (missing !== undefined) throw deliveryNotFound(missing);
  return [...rows];
}

/** The stored payload of a report; null when it was pruned. */
export async function readPayload(sql: postgres.Sql, reportId: string): Promise<unknown> {
  const [row] = await sql`select payload from public.weekly_performance_reports where id = ${reportId}::uuid`;
  return row?.payload ?? null;
}

/** The holder of an id whose delivery went with its tenant or user. */
const ERASED = "erased";

/** Which deliveries hold which of these provider's ids, by the provider's id; `erased` for one that is gone. */
export async function readHolders(sql: postgres.Sql, ids: readonly string[]): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await sql<{ id: string; holder: string }[]>`
    select d.provider_message_id as id, d.id::text as holder from public.weekly_performance_deliveries as d
    where d.status = 'sent' and d.provider_message_id in (select w.id from ${listOf(sql, ids)} as w(id))
    union all
    select w.id, ${ERASED} from ${listOf(sql, ids)} as w(id)
    where exists (select from public.weekly_performance_erased_messages as e
                  where e.digest = public.weekly_performance_message_digest(w.id))`;
  return new Map(rows.map(({ id, holder }) => [id, holder]));
}

/** Other WhatsApp deliveries that are open, were dispatched, and whose recipient had the same mask. */
export async function readRivals(sql: postgres.Sql, { id, maskedHint }: Doubt): Promise<Rival[]> {
  return await sql<Rival[]>`
    select d.id, d.report_id as "reportId"
    from public.weekly_performance_deliveries as d
    where d.status in ('unknown', 'running') and ${effectiveState(sql)} in ('unknown', 'running')
      and d.channel = 'whatsapp' and d.dispatched_at is not null and d.masked_hint = ${maskedHint}::text
      and d.id <> ${id}::uuid`;
}

/** The state of a delivery as it is now; null when it went with its tenant or user. */
export async function readState(sql: postgres.Sql, id: string): Promise<Delivery["state"] | null> {
  const [row] = await sql<[{ state: string }?]>`
    select ${effectiveState(sql)} as state from public.weekly_performance_deliveries as d where d.id = ${id}::uuid`;
  return DELIVERY_STATES.find((state) => state === row?.state) ?? null;
}

function listOf(sql: postgres.Sql, values: readonly string[]): postgres.PendingQuery<postgres.Row[]> {
  return sql`jsonb_array_elements_text(${JSON.stringify(values)}::text::jsonb)`;
}
