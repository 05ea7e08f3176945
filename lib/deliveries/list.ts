import type postgres from "postgres";
import { OpsError } from "../platform/errors.ts";
import { type Delivery, deliveryColumns, effectiveState } from "./delivery.ts";

/** Which deliveries to list; an absent part does not restrict. */
export type DeliveryFilter = {
  state?: Delivery["state"] | undefined;
  /** The first local date of the week, YYYY-MM-DD. */
  week?: string | undefined;
  tenantId?: string | undefined;
  /** The id of the last delivery of an earlier list: go on after it. */
  after?: string | undefined;
};

/** Deliveries in order; `next` is where to go on when there are more. */
export type DeliveryList = { deliveries: Delivery[]; more: boolean; next: string | null };

const PAGE = 1_000;

/**
 * The deliveries that match, newest week first, then by tenant; `limit` of them at most.
 *
 * Behaviour: reads in pages, each from the key of the row before it, so that memory and locks stay small at any limit.
 * Errors:    DELIVERY_NOT_FOUND when there is no delivery `after`.
 */
export async function listDeliveries(
  sql: postgres.Sql,
  filter: DeliveryFilter,
  limit: number,
): Promise<DeliveryList> {
  if (filter.after !== undefined) await requireDelivery(sql, filter.after);
  const deliveries: Delivery[] = [];
  let after = filter.after;
  // One more than asked for, to know whether there are more.
  while (deliveries.length <= limit) {
    const size = Math.min(PAGE, limit + 1 - deliveries.length);
    const page = await readPage(sql, { ...filter, after }, size);
    deliveries.push(...page);
    if (page.length < size) break;
    after = page.at(-1)?.id;
  }
  const more = deliveries.length > limit;
  const shown = deliveries.slice(0, limit);
  return { deliveries: shown, more, next: more ? (shown.at(-1)?.id ?? null) : null };
}

async function readPage(sql: postgres.Sql, filter: DeliveryFilter, size: number): Promise<Delivery[]> {
  const { state, week = null, tenantId = null, after = null } = filter;
  return await sql<Delivery[]>`
    with after as (
      select r.window_start, d.tenant_id, d.report_id, d.channel
      from public.weekly_performance_deliveries as d
      join public.weekly_performance_reports as r on r.id = d.report_id
      where d.id = ${after}::uuid
    ), page as materialized (
      select d.id
      from public.weekly_performance_deliveries as d
      join public.weekly_performance_reports as r on r.id = d.report_id
      left join after as a on true
      where ${hasState(sql, state)}
        and (${week}::text is null
             or r.window_start = (${week}::text::date::timestamp at time zone 'America/Sao_Paulo'))
        and (${tenantId}::uuid is null or d.tenant_id = ${tenantId}::uuid)
        and (${after}::uuid is null or r.window_start < a.window_start
             or (r.window_start = a.window_start
                 and (d.tenant_id, d.report_id, d.channel) > (a.tenant_id, a.report_id, a.channel)))
      order by r.window_start desc, d.tenant_id, d.report_id, d.channel
      limit ${size}
    )
    select ${deliveryColumns(sql)}
    from page
    join public.weekly_performance_deliveries as d on d.id = page.id
    join public.weekly_performance_reports as r on r.id = d.report_id
    order by r.window_start desc, d.tenant_id, d.report_id, d.channel`;
}

/** Written out, so that the index of what was not sent is used: these are few among the many that were. */
function hasState(sql: postgres.Sql, state: DeliveryFilter["state"]): postgres.PendingQuery<postgres.Row[]> {
  if (state === undefined) return sql`true`;
  if (state === "sent") return sql`d.status = 'sent'`;
  return sql`d.status <> 'sent' and ${effectiveState(sql)} = ${state}::text`;
}

async function requireDelivery(sql: postgres.Sql, id: string): Promise<void> {
  const [row] = await sql`select from public.weekly_performance_deliveries where id = ${id}::uuid`;
  if (!row) throw deliveryNotFound(id);
}

/** The error for an id that no delivery has. */
export function deliveryNotFound(id: string): OpsError {
  return new OpsError({
    code: "DELIVERY_NOT_FOUND",
    message: `Cannot find delivery ${id}: the ledger has no such row`,
    hint: "opsctl deliveries list shows the ids",
  });
}
