import type postgres from "postgres";
import type { WeekBounds } from "../../ledger/week-state.ts";
import { emailSettings, newestInstance } from "./senders.ts";

/** A tenant owner who gets a report. */
export type Scope = { tenantId: string; userId: string };

/** An owner with phone and e-mail as the person typed them. */
export type Recipient = Scope & { phone: string | null; email: string | null };

/** What the two sender tenants have: the newest messaging instance's name, and `tenant_config.config.email`. */
export type Senders = { instanceName: string | null; emailSender: unknown };

/** How many eligible owners there are, of one tenant or of all. */
export async function countScopes(sql: postgres.Sql, tenantId: string | null): Promise<number> {
  const [row] = await sql`
    select count(*)::int as count
    from public.list_weekly_performance_report_scopes(p_tenant_id => ${tenantId}::uuid) as s
    where ${tenantId}::uuid is null or s.tenant_id = ${tenantId}::uuid`;
  return row!.count;
}

/** The next page of eligible owners after `after`, in key order. */
export async function listScopes(
  sql: postgres.Sql,
  tenantId: string | null,
  after: Scope | null,
  limit: number,
): Promise<Scope[]> {
  return await sql<Scope[]>`
    select s.tenant_id as "tenantId", s.user_id as "userId"
    from public.list_weekly_performance_report_scopes(p_tenant_id => ${tenantId}::uuid) as s
    where ${isOnPage(sql, tenantId, after)}
    order by s.tenant_id, s.user_id
    limit ${limit}`;
}

/** The condition of an owner `s` who is listed: of this tenant, or of all, and after this owner in key order. */
function isOnPage(sql: postgres.Sql, tenantId: string | null, after: Scope | null) {
  return sql`
    (${tenantId}::uuid is null or s.tenant_id = ${tenantId}::uuid)
      and (${after?.tenantId ?? null}::uuid is null
           or (s.tenant_id, s.user_id) > (${after?.tenantId ?? null}::uuid, ${after?.userId ?? null}::uuid))`;
}

/** Whether the application still has this owner: with a deleted user or tenant, opsctl's rows about them are gone. */
export async function ownerExists(sql: postgres.Sql, { tenantId, userId }: Scope): Promise<boolean> {
  const [row] = await sql`
    select exists (
      select from public.users as u where u.tenant_id = ${tenantId}::uuid and u.id = ${userId}::uuid) as exists`;
  return row!.exists;
}

/** `listScopes` of the owners without a report of this window, in any state. */
export async function listNewScopes(
  sql: postgres.Sql,
  tenantId: string | null,
  window: WeekBounds,
  after: Scope | null,
  limit: number,
): Promise<Scope[]> {
  return await sql<Scope[]>`
    select s.tenant_id as "tenantId", s.user_id as "userId"
    from public.list_weekly_performance_report_scopes(p_tenant_id => ${tenantId}::uuid) as s
    where ${isOnPage(sql, tenantId, after)}
      and not exists (
        select from public.weekly_performance_reports as r
        where r.tenant_id = s.tenant_id and r.user_id = s.user_id
          and r.window_start = ${window.start}::text::timestamptz
          and r.window_end = ${window.end}::text::timestamptz)
    order by s.tenant_id, s.user_id
    limit ${limit}`;
}

/** `listScopes` with phone and e-mail, for the readiness check: in a read-only transaction. */
export async function listRecipients(
  sql: postgres.Sql,
  tenantId: string | null,
  after: Scope | null,
  limit: number,
): Promise<Recipient[]> {
  return await readOnly(
    sql,
    (tx) => tx<Recipient[]>`
    select s.tenant_id as "tenantId", s.user_id as "userId", u.phone, u.email
    from public.list_weekly_performance_report_scopes(p_tenant_id => ${tenantId}::uuid) as s
    left join public.users as u on u.tenant_id = s.tenant_id and u.id = s.user_id
    where ${isOnPage(sql, tenantId, after)}
    order by s.tenant_id, s.user_id
    limit ${limit}`,
  );
}

/** Both senders, for the readiness check: in a read-only transaction. */
export async function readSenders(
  sql: postgres.Sql,
  whatsappTenantId: string | null,
  emailTenantId: string | null,
): Promise<Senders> {
  const [row] = await readOnly(
    sql,
    (tx) => tx`
    select ${newestInstance(tx, whatsappTenantId)} as "instanceName",
      ${emailSettings(tx, emailTenantId)} as "emailSender"`,
  );
  return { instanceName: row!.instanceName, emailSender: row!.emailSender };
}

// biome-ignore lint/suspicious/noExplicitAny: the driver types a transaction's result by its query
type Rows = any[];

async function readOnly<T extends Rows>(
  sql: postgres.Sql,
  read: (tx: postgres.TransactionSql) => Promise<T>,
): Promise<T> {
  return (await sql.begin("read only", read)) as T;
}
