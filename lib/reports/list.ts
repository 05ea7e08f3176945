import type postgres from "postgres";
import { readOnly } from "../ledger/read-only.ts";
import { type ReportWeek, readReportWeek } from "../ledger/report-week.ts";
import type { OwnerDeliveryState, OwnerReportState } from "../ledger/week-owners.ts";
import type { WeekBounds } from "../ledger/week-state.ts";
import { OpsError } from "../platform/errors.ts";
import { withoutData } from "./details.ts";

/** The states to filter by; `open` is every one that keeps a week from being a success. */
export const LIST_STATES = [
  "open",
  "completed",
  "sent",
  "partial",
  "failed",
  "unknown",
  "running",
  "missing",
] as const;

/** The channels to filter by: the two that deliver, and the networks. */
export const LIST_CHANNELS = ["whatsapp", "email", "instagram", "linkedin"] as const;

/** Which owners to list; an absent part does not restrict. */
export type OwnerFilter = {
  state?: (typeof LIST_STATES)[number] | undefined;
  /** With a state, whose delivery of this channel is in it; alone, who lacks this channel. */
  channel?: (typeof LIST_CHANNELS)[number] | undefined;
  /** The user id of the last owner of an earlier list: go on after it. */
  after?: string | undefined;
};

/** A delivery of a completed report; no id when it is missing. */
export type ListedDelivery = { state: OwnerDeliveryState; code: string | null; deliveryId: string | null };

/** An owner of the week, for people: ids, states, codes and the tenant's name. */
export type ListedOwner = {
  tenantId: string;
  tenantName: string | null;
  userId: string;
  /** Whether the owner gets reports now. */
  eligible: boolean;
  reportId: string | null;
  report: OwnerReportState;
  reportCode: string | null;
  /** When payload and evidence were removed; null while they are there. */
  prunedAt: string | null;
  whatsapp: ListedDelivery | null;
  email: ListedDelivery | null;
  /** Channels that the report has no data of, and why, without those that no report has; null without a payload. */
  withoutData: { channel: string; reason: string }[] | null;
};

/** Owners in order; `next` is where to go on when there are more. */
export type OwnerList = Pick<ReportWeek, "week" | "start" | "end"> & {
  owners: ListedOwner[];
  more: boolean;
  next: string | null;
};

/**
 * The owners of a week who match, by tenant and user, `limit` of them at most.
 *
 * Behaviour: reads only, on one view of the database.
 * Errors:    WEEK_NOT_CLOSED; OWNER_NOT_FOUND when there is no user `after`.
 */
export async function listOwners(
  sql: postgres.Sql,
  week: string | undefined,
  filter: OwnerFilter,
  limit: number,
): Promise<OwnerList> {
  return await readOnly(sql, async (tx) => {
    const wanted = await readReportWeek(tx, week);
    if (filter.after !== undefined) await requireUser(tx, filter.after);
    // One more than asked for, to know whether there are more.
    const rows = await readOwners(tx, wanted, filter, limit + 1);
    const owners = rows.slice(0, limit);
    const more = rows.length > limit;
    const next = more ? (owners.at(-1)?.userId ?? null) : null;
    return { week: wanted.week, start: wanted.start, end: wanted.end, owners, more, next };
  });
}

async function readOwners(
  sql: postgres.ISql,
  week: WeekBounds,
  filter: OwnerFilter,
  size: number,
): Promise<ListedOwner[]> {
  const { start, end } = week;
  const { after = null } = filter;
  return await sql<ListedOwner[]>`
    with page as materialized (
      select o.* from public.weekly_performance_week_owners(
        p_window_start => ${start}::text::timestamptz, p_window_end => ${end}::text::timestamptz) as o
      where ${stateFilter(sql, week, filter)}
        and (${after}::uuid is null or (o.tenant_id, o.user_id) > (
          select u.tenant_id, u.id from public.users as u where u.id = ${after}::uuid))
      order by o.tenant_id, o.user_id
      limit ${size}
    )
    select p.tenant_id as "tenantId", p.tenant_name as "tenantName", p.user_id as "userId", p.eligible,
      p.report_id as "reportId", p.report_state as report,
      case when p.report_state = 'failed' then r.error_code end as "reportCode",
      to_char(r.pruned_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as "prunedAt",
      ${delivery(sql, "whatsapp")} as whatsapp, ${delivery(sql, "email")} as email,
      ${withoutData(sql)} as "withoutData"
    from page as p
    left join public.weekly_performance_reports as r on r.id = p.report_id
    left join public.weekly_performance_deliveries as w on w.id = p.whatsapp_id
    left join public.weekly_performance_deliveries as e on e.id = p.email_id
    order by p.tenant_id, p.user_id`;
}

type Fragment = postgres.PendingQuery<postgres.Row[]>;

function delivery(sql: postgres.ISql, channel: "whatsapp" | "email"): Fragment {
  const [row, state] =
    channel === "whatsapp" ? [sql("w"), sql("p.whatsapp_state")] : [sql("e"), sql("p.email_state")];
  return sql`
    case when ${state} is not null then json_build_object(
      'state', ${state}, 'deliveryId', ${row}.id,
      'code', case when ${row}.status = 'running' and ${state} = 'unknown' then 'lease_expired_after_dispatch'
              else ${row}.error_code end) end`;
}

/** The condition on an owner `o`. */
function stateFilter(sql: postgres.ISql, week: WeekBounds, { state, channel }: OwnerFilter): Fragment {
  if (channel === "instagram" || channel === "linkedin") return networkFilter(sql, week, channel);
  if (channel !== undefined) {
    const column = sql(channel === "whatsapp" ? "o.whatsapp_state" : "o.email_state");
    // Sent without its timeline entry has reached its owner.
    if (state === undefined) return sql`coalesce(${column}, 'missing') not in ('sent', 'partial')`;
    if (state === "open") return openDelivery(sql, column);
    return sql`${column} = ${state}::text`;
  }
  if (state === undefined) return sql`true`;
  if (state === "open")
    return sql`(o.report_state = 'running' or (o.eligible and o.report_state in ('failed', 'missing'))
      or ${openDelivery(sql, sql("o.whatsapp_state"))} or ${openDelivery(sql, sql("o.email_state"))})`;
  return sql`${state}::text in (o.report_state, o.whatsapp_state, o.email_state)`;
}

/** What failed for an owner who gets no reports any more cannot be changed, so it is not open. */
function openDelivery(sql: postgres.ISql, column: postgres.Helper<string>): Fragment {
  return sql`(${column} in ('unknown', 'running', 'partial') or (o.eligible and ${column} in ('failed', 'missing')))`;
}

/** A connected account whose analysis the report lacks, for whatever reason. */
function networkFilter(sql: postgres.ISql, { start }: WeekBounds, network: string): Fragment {
  return sql`exists (
    select from public.weekly_performance_reports as n
    cross join lateral jsonb_array_elements(n.payload -> 'provenance' -> 'sources') as source
    where n.id = o.report_id and n.window_start = ${start}::text::timestamptz and o.report_state = 'completed' and source ->> 'channel' = ${network}::text
      and source ? 'connectionId' and source ->> 'status' <> 'ok')`;
}

async function requireUser(sql: postgres.ISql, id: string): Promise<void> {
  const [row] = await sql`select from public.users as u where u.id = ${id}::uuid`;
  if (row) return;
  throw new OpsError({
    code: "OWNER_NOT_FOUND",
    message: `Cannot go on after user ${id}: there is no such user`,
    hint: "Take the value that an earlier list named, or leave --after out",
  });
}
