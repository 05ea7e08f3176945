/** Tenants, owners and their week, written into the application's tables of a test or demo database. */
import { randomUUID } from "node:crypto";
import type postgres from "postgres";

/** The Monday on which most tests run, and the week that closed then. */
export const MONDAY = "2026-11-23T11:00:00Z";
/** The closed week of `MONDAY`. */
export const WEEK = { start: "2026-11-16T03:00:00Z", end: "2026-11-23T03:00:00Z", week: "2026-11-16" };

/** When owners joined, by the clock of the tests: the host's may be past their weeks. */
const JOINED = "2026-01-05T12:00:00Z";

/** One owner to be seeded; what is left out is a healthy default, `null` is absence. */
export type OwnerSpec = {
  tenantId?: string;
  userId?: string;
  tenantName?: string;
  role?: "owner" | "admin" | "member";
  phone?: string | null;
  email?: string | null;
  wallet?: "active" | "grace" | "suspended" | "closed" | null;
  balance?: number;
  archived?: boolean;
  networks?: string[];
  /** Sends in the week, each with the types of its events. */
  sends?: string[][];
};

/** An owner as seeded. */
export type SeededOwner = {
  tenantId: string;
  userId: string;
  phone: string | null;
  email: string | null;
  connections: { id: string; network: string }[];
};

/** Makes the database's clock show one instant, or tick from it (`ticking`). */
export async function setClock(sql: postgres.Sql, instant: string, { ticking = false } = {}): Promise<void> {
  const shown = new Date(instant).toISOString();
  const body = ticking
    ? `now() + (timestamptz '${shown}' - timestamptz '${new Date().toISOString()}')`
    : `timestamptz '${shown}'`;
  await sql.unsafe(
    `create or replace function public.weekly_performance_now() returns timestamptz
     language sql stable return ${body}`,
  );
}

let people = 0;

/** Writes one tenant with its owner, wallet, connections and e-mails. */
export async function seedOwner(sql: postgres.Sql, spec: OwnerSpec = {}): Promise<SeededOwner> {
  people += 1;
  const tenantId = spec.tenantId ?? randomUUID();
  const userId = spec.userId ?? randomUUID();
  const phone = spec.phone === undefined ? `+55 (11) 9${String(50_000_000 + people)}` : spec.phone;
  const email = spec.email === undefined ? `owner${people}@client${people}.example` : spec.email;
  const connections = (spec.networks ?? ["instagram", "linkedin"]).map((network) => ({
    id: randomUUID(),
    network,
  }));
  const wallet = spec.wallet === undefined ? "active" : spec.wallet;
  // One statement: a test seeds many owners, and each round trip costs as much as the row.
  await sql`
    with t as (
      insert into tenants (id, name, archived_at)
      values (${tenantId}, ${spec.tenantName ?? `Tenant ${people}`}, ${spec.archived ? WEEK.start : null})
      on conflict (id) do nothing),
    u as (
      insert into users (id, tenant_id, role, name, phone, email, created_at)
      values (${userId}, ${tenantId}, ${spec.role ?? "owner"}, ${`Owner ${people}`}, ${phone}, ${email}, ${JOINED})),
    w as (
      insert into credit_wallets (tenant_id, status, balance)
      select ${tenantId}::uuid, ${wallet}::text, ${spec.balance ?? 100}::bigint where ${wallet}::text is not null
      on conflict (tenant_id) do nothing)
    insert into social_connections (id, tenant_id, user_id, network, status)
    select (c ->> 'id')::uuid, ${tenantId}::uuid, ${userId}::uuid, c ->> 'network', 'active'
    from jsonb_array_elements(${JSON.stringify(connections)}::text::jsonb) with ordinality as a(c, n) order by n`;
  await seedSends(sql, { tenantId, userId }, spec.sends ?? [["email.delivered", "email.opened"]]);
  return { tenantId, userId, phone, email, connections };
}

/** Writes sends in the middle of the week, or at another time, each with its events one minute apart. */
export async function seedSends(
  sql: postgres.Sql,
  owner: { tenantId: string; userId: string },
  sends: string[][],
  at = "2026-11-18T12:00:00Z",
): Promise<void> {
  if (sends.length === 0) return;
  const minutesAfter = (minutes: number) => new Date(Date.parse(at) + minutes * 60_000).toISOString();
  const events = (types: string[]) => types.map((type, i) => ({ type, at: minutesAfter(i + 1) }));
  await writeSends(
    sql,
    owner,
    sends.map((types) => ({ at, events: events(types) })),
  );
}

/** `count` e-mails and the events of each, by their short types, a minute apart where they say no time. */
export type Sends = { count?: number; at?: string; events?: (string | SendEvent)[] };
/** An event of a send; without `tenantId` it is the sender's. */
type SendEvent = { type: string; at?: string; id?: string; tenantId?: string };

/** Writes e-mails and their events, instants as text with microseconds. */
export async function writeSends(
  sql: postgres.Sql,
  { tenantId, userId }: { tenantId: string; userId: string },
  sends: readonly Sends[],
): Promise<void> {
  const noon = Date.parse("2026-11-18T12:00:00Z");
  const rows = sends.map(({ count = 1, at = new Date(noon).toISOString(), events = [] }) => ({
    ...{ count, at, key: randomUUID() },
    events: events.map((event, i) => ({
      at: new Date(noon + (i + 1) * 60_000).toISOString(),
      tenantId,
      ...(typeof event === "string" ? { type: `email.${event}` } : event),
    })),
  }));
  await sql`
    with each as (
      select e, e ->> 'key' || '-' || n as id
      from jsonb_array_elements(${JSON.stringify(rows)}::text::jsonb) as a(e),
        generate_series(1, (e ->> 'count')::integer) as n),
    sent as (
      insert into resend_email_sends (tenant_id, user_id, provider_email_id, sent_at)
      select ${tenantId}::uuid, ${userId}::uuid, id, (e ->> 'at')::timestamptz from each)
    insert into resend_email_events (id, tenant_id, provider_email_id, type, occurred_at)
    select coalesce((v ->> 'id')::uuid, gen_random_uuid()), (v ->> 'tenantId')::uuid, id, v ->> 'type',
           (v ->> 'at')::timestamptz
    from each cross join jsonb_array_elements(e -> 'events') as b(v)`;
}

/** The central sender tenants: one with a messaging instance, one with a verified e-mail sender. */
export async function seedSenders(
  sql: postgres.Sql,
): Promise<{ whatsappTenantId: string; emailTenantId: string }> {
  const [whatsappTenantId, emailTenantId] = [randomUUID(), randomUUID()];
  await sql`insert into tenants (id, name) values (${whatsappTenantId}, 'Ops'), (${emailTenantId}, 'Central')`;
  await sql`
    insert into messaging_instances (tenant_id, instance_name) values (${whatsappTenantId}, 'ops')`;
  const config = {
    email: {
      address: "reports@mail.example",
      fromName: "Relatório semanal",
      domain: "mail.example",
      verification_status: "verified",
    },
  };
  await sql`
    insert into tenant_config (tenant_id, config) values (${emailTenantId}, ${JSON.stringify(config)}::text::jsonb)`;
  return { whatsappTenantId, emailTenantId };
}

/** So many owners, by default with one Instagram and one LinkedIn account each. */
export async function seedOwners(sql: postgres.Sql, count: number): Promise<SeededOwner[]> {
  const owners = [];
  for (let i = 0; i < count; i += 1) owners.push(await seedOwner(sql));
  return owners;
}

/** The columns of an analysis; what is left out is that of a healthy one, and texts are JSON as it is stored. */
export type AnalysisContent = {
  score?: number | null;
  coverageStatus?: string;
  reason?: string | null;
  metrics?: object | string;
  insights?: object[] | string;
  evidence?: object[] | string;
  triggers?: unknown[] | string;
  updatedAt?: string;
  channel?: string;
};

/** What the application's analysis writes for one connection: a score, and the channel's analysis. */
export async function writeAnalysis(
  sql: postgres.Sql,
  call: { tenantId: string; userId: string; connectionId: string; windowStart: string; windowEnd: string },
  content: AnalysisContent = {},
): Promise<void> {
  const { tenantId, userId, connectionId, windowStart, windowEnd } = call;
  if (content.score !== undefined) {
    await sql`
      insert into social_account_scores (tenant_id, user_id, window_start, window_end, score)
      values (${tenantId}, ${userId}, ${windowStart}, ${windowEnd}, ${content.score})
      on conflict (tenant_id, user_id, window_start, window_end) do update set score = excluded.score`;
  }
  const json = (value: object | string) => (typeof value === "string" ? value : JSON.stringify(value));
  const metrics = json(content.metrics ?? { followers: 1200, reach: 5400, engagementRate: 0.042 });
  const insights = json(
    content.insights ?? [{ code: "reach_up", text: "O alcance cresceu 12% na semana", metric: "reach" }],
  );
  // Instants go as text: the driver would cut a parameter of type timestamptz to milliseconds.
  await sql`
    insert into social_channel_analyses
      (tenant_id, user_id, connection_id, channel, window_start, window_end, coverage_status, reason,
       metrics, insights, evidence, triggers, updated_at)
    select ${tenantId}, ${userId}, c.id, coalesce(${content.channel ?? null}, c.network),
           ${windowStart}::text::timestamptz, ${windowEnd}::text::timestamptz,
           ${content.coverageStatus ?? "complete"}, ${content.reason ?? null},
           ${metrics}::text::jsonb, ${insights}::text::jsonb,
           ${json(content.evidence ?? [{ posts: 7 }])}::text::jsonb,
           ${json(content.triggers ?? ["weekly"])}::text::jsonb,
           coalesce(${content.updatedAt ?? null}::text::timestamptz, now())
    from social_connections as c where c.id = ${connectionId}
    on conflict (connection_id, window_start, window_end) do update
      set metrics = excluded.metrics, insights = excluded.insights, updated_at = now()`;
}
