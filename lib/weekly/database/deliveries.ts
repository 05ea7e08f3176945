import type postgres from "postgres";
import { timelineCause } from "../../ledger/timeline-cause.ts";
import type { WeekBounds } from "../../ledger/week-state.ts";
import type { Scope } from "./recipients.ts";
import { emailSettings, newestInstance } from "./senders.ts";

/** The two ways in which a report reaches its owner. */
export type DeliveryChannelName = "whatsapp" | "email";

/** The claim of one delivery; it has a token when this process may send it. */
export type DeliveryClaim =
  | { deliveryId: string; outcome: "sent" }
  | { deliveryId: string; outcome: "unknown" }
  | { deliveryId: string; outcome: "busy" }
  | GrantedClaim;

/** The claim of a delivery that this process may send, with what is needed to address it. */
export type GrantedClaim = {
  deliveryId: string;
  outcome: "claimed" | "resumed" | "taken_over";
  token: string;
  /** `users.phone` or `users.email`, as the person typed it. */
  recipient: string | null;
  /** Name of the newest messaging instance, or `tenant_config.config.email`, of the sender tenant. */
  sender: unknown;
};

/** A delivery that this process may send, while the claim's lease lasts. */
export type ClaimedDelivery = { id: string; token: string };

/** What a send came to, for the ledger. */
export type DeliveryResult = {
  status: Exclude<Settled["status"], "erased">;
  providerMessageId: string | null;
  errorCode: string | null;
};

/** What a sent delivery lacks: a code, and why the database refused it (SQLSTATE and constraint) as far as it said so. */
export type Lack = { errorCode: string | null; cause?: string | undefined };

/** The final state of a delivery, as the ledger has it; `erased` when the row is gone. */
export type Settled = { status: "sent" | "failed" | "unknown" | "erased" } & Lack;

/** A delivery that exists already; a sent one with a code lacks its timeline entry. */
export type KnownDelivery = { id: string; status: string; errorCode: string | null };

/**
 * Steps 7 and 8: claims the WhatsApp delivery; recipient and instance are read with it.
 *
 * Behaviour: asked again with the same token, the same claim is returned, until it was dispatched.
 */
export async function claimWhatsapp(
  sql: postgres.Sql,
  reportId: string,
  scope: Scope,
  senderTenantId: string,
  claimToken: string,
): Promise<DeliveryClaim> {
  const address = { recipient: sql`u.phone`, sender: newestInstance(sql, senderTenantId) };
  return await claimDelivery(sql, { channel: "whatsapp", reportId, claimToken }, scope, address);
}

/** Step 10: claims the e-mail delivery as `claimWhatsapp` does; recipient and central sender are read with it. */
export async function claimEmail(
  sql: postgres.Sql,
  reportId: string,
  scope: Scope,
  senderTenantId: string,
  claimToken: string,
): Promise<DeliveryClaim> {
  const address = { recipient: sql`u.email`, sender: emailSettings(sql, senderTenantId) };
  return await claimDelivery(sql, { channel: "email", reportId, claimToken }, scope, address);
}

type Fragment = postgres.PendingQuery<postgres.Row[]>;

async function claimDelivery(
  sql: postgres.Sql,
  { channel, reportId, claimToken }: { channel: DeliveryChannelName; reportId: string; claimToken: string },
  scope: Scope,
  { recipient, sender }: { recipient: Fragment; sender: Fragment },
): Promise<DeliveryClaim> {
  const [row] = await sql`
    with claim as materialized (
      select * from public.claim_weekly_performance_delivery(
        p_report_id => ${reportId}::uuid, p_channel => ${channel}::text, p_claim_token => ${claimToken}::uuid)
    )
    select c.delivery_id, c.outcome, c.claim_token, ${recipient} as recipient, ${sender} as sender
    from claim as c
    left join ${owner(sql, scope)}`;
  return deliveryClaim(row);
}

/**
 * `settleDelivery` and `claimEmail` for one report in one statement: both take place, or neither.
 *
 * Errors: those of both; then nothing was settled either.
 */
export async function settleAndClaimEmail(
  sql: postgres.Sql,
  { delivery, result }: { delivery: ClaimedDelivery; result: DeliveryResult },
  reportId: string,
  scope: Scope,
  senderTenantId: string,
  claimToken: string,
): Promise<{ settled: Settled; claim: DeliveryClaim }> {
  const [row] = await sql`
    with settled as materialized (
      select s.status, s.error_code, ${timelineCause(sql)} as cause from public.settle_weekly_performance_delivery(
        p_delivery_id => ${delivery.id}::uuid, p_claim_token => ${delivery.token}::uuid,
        p_status => ${result.status}::text, p_provider_message_id => ${result.providerMessageId}::text,
        p_error_code => ${result.errorCode}::text) as s
    ), claim as materialized (
      -- The condition makes the claim wait for the settling.
      select c.* from settled as s, lateral public.claim_weekly_performance_delivery(
        p_report_id => case when s.status is not null then ${reportId}::uuid end,
        p_channel => 'email', p_claim_token => ${claimToken}::uuid) as c
    )
    select s.status, s.error_code, s.cause, c.delivery_id, c.outcome, c.claim_token, u.email as recipient,
      ${emailSettings(sql, senderTenantId)} as sender
    from settled as s
    cross join claim as c
    left join ${owner(sql, scope)}`;
  return { settled: settledOf(row!), claim: deliveryClaim(row) };
}

/** The user `u` of a report, for a join: the row is missing once the owner was deleted. */
export function owner(sql: postgres.Sql, { tenantId, userId }: Scope) {
  return sql`public.users as u on u.tenant_id = ${tenantId}::uuid and u.id = ${userId}::uuid`;
}

/** The point of no return before a send; repeated before each further try under the same claim. */
export async function dispatchDelivery(
  sql: postgres.Sql,
  { id, token }: ClaimedDelivery,
  senderTenantId: string,
  maskedHint: string,
): Promise<void> {
  await sql`
    select public.dispatch_weekly_performance_delivery(
      p_delivery_id => ${id}::uuid, p_claim_token => ${token}::uuid,
      p_sender_tenant_id => ${senderTenantId}::uuid, p_masked_hint => ${maskedHint}::text)`;
}

/** Records what a send came to, and returns what the ledger then has. */
export async function settleDelivery(
  sql: postgres.Sql,
  { id, token }: ClaimedDelivery,
  result: DeliveryResult,
): Promise<Settled> {
  const [row] = await sql`
    select s.status, s.error_code, ${timelineCause(sql)} as cause
    from public.settle_weekly_performance_delivery(
      p_delivery_id => ${id}::uuid, p_claim_token => ${token}::uuid,
      p_status => ${result.status}::text, p_provider_message_id => ${result.providerMessageId}::text,
      p_error_code => ${result.errorCode}::text) as s`;
  return settledOf(row!);
}

/** The present state of a delivery that another process held before; null when the row is gone. */
export async function readDelivery(sql: postgres.Sql, deliveryId: string): Promise<KnownDelivery | null> {
  const [row] = await sql<KnownDelivery[]>`
    select id, status, error_code as "errorCode"
    from public.weekly_performance_deliveries where id = ${deliveryId}::uuid`;
  return row ?? null;
}

/**
 * How many WhatsApp messages of this week were sent, as far as the ledger knows.
 *
 * Behaviour: as long as the ledger loses nothing, it only grows: of those whose owner was deleted since Monday a digest
 *            is counted, which may be of another week or an e-mail's. A message whose row was lost before it was
 *            recorded left a digest, too, as often as it was recorded: `lost` says of how many that is known.
 */
export async function countSentWhatsapp(
  sql: postgres.Sql,
  { start, end }: WeekBounds,
  { lost }: { lost: number },
): Promise<number> {
  const [row] = await sql`
    select (
      select count(*) from public.weekly_performance_reports as r
      join public.weekly_performance_deliveries as d on d.report_id = r.id
      where r.window_start = ${start}::text::timestamptz and r.window_end = ${end}::text::timestamptz
        and d.channel = 'whatsapp' and d.status = 'sent'
    )::int + (
      select greatest(count(distinct e.digest) - ${lost}::int, 0) from public.weekly_performance_erased_messages as e
      where e.erased_on >= (${end}::text::timestamptz at time zone 'America/Sao_Paulo')::date
    )::int as count`;
  return row!.count;
}

/** Writes the timeline entry that a sent delivery lacks, and returns what it lacks even then. */
export async function repairDelivery(sql: postgres.Sql, deliveryId: string): Promise<Lack> {
  const [row] = await sql`
    select r.error_code, ${timelineCause(sql)} as cause
    from public.repair_weekly_performance_delivery(p_delivery_id => ${deliveryId}::uuid) as r`;
  return lackOf(row!);
}

function settledOf(row: postgres.Row): Settled {
  return { status: row.status, ...lackOf(row) };
}

function lackOf({ error_code: errorCode, cause }: postgres.Row): Lack {
  return { errorCode, ...(cause === null ? {} : { cause }) };
}

/** The claim that a row of the database says. */
export function deliveryClaim(row: postgres.Row | undefined): DeliveryClaim {
  if (!row) throw new Error("claim_weekly_performance_delivery answered no row");
  const { delivery_id: deliveryId, outcome, claim_token: token, recipient, sender } = row;
  return token === null ? { deliveryId, outcome } : { deliveryId, outcome, token, recipient, sender };
}
