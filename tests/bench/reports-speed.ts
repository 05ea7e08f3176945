/** How long the commands that look at a week take at 20,000 owners; each has to answer in under a second. */
import { PAYLOADS } from "../fixtures/payloads.ts";
import type { PostgresServer, TestDatabase } from "../support/postgres.ts";
import { WEEK } from "../support/seed.ts";
import { OPSCTL, run } from "./child.ts";
import { type Figure, median } from "./figure.ts";
import { manyOwners } from "./many-owners.ts";

const OWNERS = 20_000;
const RUNS = 5;
const LIMIT_MS = 1_000;

/** The owner in the middle of all, and the ids of that owner's rows. */
const TENANT = `10000000-0000-4000-8000-${String(OWNERS / 2).padStart(12, "0")}`;

/** One figure for each command. */
export async function reportsFigures(server: PostgresServer): Promise<Figure[]> {
  const { db } = await manyOwners(server, OWNERS);
  await fillLedger(db);
  const env = {
    DATABASE_URL: server.url(db.name),
    APP_BASE_URL: "https://app.example",
    OPSCTL_LOG_DIR: "/nonexistent",
  };
  const commands: [string, number][] = [
    ["status", 1],
    ["list", 0],
    ["list --state open --limit 1000", 0],
    ["list --state missing", 0],
    ["list --channel instagram", 0],
    [`list --limit ${OWNERS}`, 0],
    [`show --tenant ${TENANT}`, 0],
    [`preview --tenant ${TENANT}`, 0],
  ];
  const figures: Figure[] = [];
  for (const [command, exitCode] of commands) figures.push(await figureOf(command, exitCode, env));
  await db.drop();
  return figures;
}

async function figureOf(command: string, exitCode: number, env: Record<string, string>): Promise<Figure> {
  const tookMs: number[] = [];
  for (let i = 0; i < RUNS; i += 1) {
    const ended = await run([OPSCTL, "reports", ...command.split(" "), "--json"], env);
    if (ended.exitCode !== exitCode) throw new Error(`reports ${command}: ${ended.exitCode} ${ended.stderr}`);
    tookMs.push(ended.durationMs);
  }
  const middle = median(tookMs);
  return {
    measure: `opsctl reports ${command.replace(TENANT, "<id>")}, ${OWNERS} owners`,
    value: `${middle.toFixed(0)} ms`,
    baseline: `${LIMIT_MS} ms`,
    ratio: middle / LIMIT_MS,
    goal: { atMost: 1 },
  };
}

/** This week and the one before, with one owner in a hundred missing, in doubt or without a phone. */
async function fillLedger({ sql }: TestDatabase): Promise<void> {
  await sql`update users set created_at = '2026-11-01'`;
  for (const weeksAgo of [1, 0]) await fillWeek(sql, `-${weeksAgo * 7} days`);
  await sql.unsafe("vacuum analyze");
}

async function fillWeek(sql: TestDatabase["sql"], offset: string): Promise<void> {
  const payload = JSON.stringify(PAYLOADS.full);
  await sql`
    with owner as (
      select u.tenant_id, u.id as user_id, row_number() over (order by u.id) as at
      from users as u where u.role = 'owner'
    ), report as (
      insert into weekly_performance_reports
        (tenant_id, user_id, window_start, window_end, schema_version, status, claim_token, lease_expires_at,
         fingerprint, evidence, payload, coverage_status, completed_at)
      select o.tenant_id, o.user_id, ${WEEK.start}::text::timestamptz + ${offset}::text::interval,
        ${WEEK.end}::text::timestamptz + ${offset}::text::interval, 1, 'completed', gen_random_uuid(), now(),
        repeat('a', 64), '{}',
        ${payload}::text::jsonb || jsonb_build_object('tenantId', o.tenant_id, 'userId', o.user_id), 'partial', now()
      from owner as o where o.at % 100 <> 1
      returning id, tenant_id, user_id
    )
    insert into weekly_performance_deliveries
      (report_id, tenant_id, user_id, channel, status, attempts, claim_token, lease_expires_at, sender_tenant_id,
       masked_hint, provider_message_id, error_code, dispatched_at, settled_at)
    select r.id, r.tenant_id, r.user_id, c.channel, s.status, 1, gen_random_uuid(), now(),
      case when s.status <> 'failed' then r.tenant_id end,
      case when s.status <> 'failed' then case c.channel when 'email' then 'f***@client.example' else '4321' end end,
      case when s.status = 'sent' then 'provider-' || r.id end,
      case s.status when 'unknown' then 'gateway_timeout' when 'failed' then 'recipient_phone_missing' end,
      case when s.status <> 'failed' then now() end, now()
    from report as r
    join owner as o using (tenant_id, user_id)
    cross join (values ('whatsapp'), ('email')) as c(channel)
    cross join lateral (select case when c.channel = 'email' then 'sent' when o.at % 100 = 2 then 'unknown'
                                    when o.at % 100 = 3 then 'failed' else 'sent' end as status) as s`;
}
