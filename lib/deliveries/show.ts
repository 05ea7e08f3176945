import type postgres from "postgres";
import type { Reconciliation } from "../ledger/reconciliation.ts";
import { type Delivery, deliveryColumns, instant } from "./delivery.ts";
import { deliveryNotFound } from "./list.ts";
import { nextSteps, stepText } from "./next-steps.ts";

/** A delivery with its history and the next steps, one line each. */
export type DeliveryDetails = { delivery: Delivery; reconciliations: Reconciliation[]; next: string[] };

/**
 * One delivery with its reconciliations, oldest first.
 *
 * Errors: DELIVERY_NOT_FOUND.
 */
export async function showDelivery(sql: postgres.Sql, id: string): Promise<DeliveryDetails> {
  const [delivery] = await sql<Delivery[]>`
    select ${deliveryColumns(sql)}
    from public.weekly_performance_deliveries as d
    join public.weekly_performance_reports as r on r.id = d.report_id
    where d.id = ${id}::uuid`;
  if (!delivery) throw deliveryNotFound(id);
  const reconciliations = await sql<Reconciliation[]>`
    select c.status as state, c.provider_message_id as "providerMessageId", c.reason, c.actor,
           c.session_user_name as "sessionUser",
           ${instant(sql, sql`c.created_at`)} as at
    from public.weekly_performance_reconciliations as c
    where c.delivery_id = ${id}::uuid order by c.created_at, c.id`;
  return { delivery, reconciliations: [...reconciliations], next: nextSteps(delivery).map(stepText) };
}
