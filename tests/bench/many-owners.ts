/** A database with as many owners as a benchmark wants, written in a few statements. */

import { PAYLOADS } from "../fixtures/payloads.ts";
import type { PostgresServer, TestDatabase } from "../support/postgres.ts";
import { MONDAY, seedSenders, setClock, WEEK } from "../support/seed.ts";

/** A database on its Monday, and the senders of its runs. */
export type ManyOwners = {
  db: TestDatabase;
  senders: { whatsappTenantId: string; emailTenantId: string };
};

const [START, END] = [`'${WEEK.start}'::timestamptz`, `'${WEEK.end}'::timestamptz`];

/** Ids of one kind, in key order. */
const id = (kind: number) => `('${kind}0000000-0000-4000-8000-' || lpad(i::text, 12, '0'))::uuid`;

/**
 * Each owner has two connections with their analyses and a score already there, so that the application only has to
 * answer, and three e-mails with two events each.
 */
const OWNERS = (count: number) => `
  create temp table n as select i from generate_series(1, ${count}) as i;
  insert into tenants (id, name) select ${id(1)}, 'Tenant ' || i from n;
  insert into users (id, tenant_id, role, name, phone, email)
    select ${id(2)}, ${id(1)}, 'owner', 'Owner ' || i, '55119' || lpad(i::text, 8, '0'), 'owner' || i || '@client.example'
    from n;
  insert into credit_wallets (tenant_id, status, balance) select ${id(1)}, 'active', 100 from n;
  insert into social_connections (id, tenant_id, user_id, network, status)
    select ${id(3)}, ${id(1)}, ${id(2)}, 'instagram', 'active' from n
    union all select ${id(4)}, ${id(1)}, ${id(2)}, 'linkedin', 'active' from n;
  insert into social_account_scores (tenant_id, user_id, window_start, window_end, score)
    select ${id(1)}, ${id(2)}, ${START}, ${END}, i % 101 from n;
  insert into social_channel_analyses
    (tenant_id, user_id, connection_id, channel, window_start, window_end, coverage_status, metrics, insights,
     evidence, triggers)
    select c.tenant_id, c.user_id, c.id, c.network, ${START}, ${END}, 'complete',
      '{"followers": 12840, "reach": 58210, "impressions": 91455, "engagementRate": 0.0471, "likes": 2104}',
      '[{"code": "reach_up", "text": "O alcance cresceu 12% na semana"}]', '[{"posts": 7}]', '["weekly"]'
    from social_connections as c;
  insert into resend_email_sends (tenant_id, user_id, provider_email_id, subject, sent_at)
    select ${id(1)}, ${id(2)}, 'em_' || i || '_' || m, 'Novidades', ${START} + m * interval '1 day'
    from n, generate_series(1, 3) as m;
  insert into resend_email_events (tenant_id, provider_email_id, type, occurred_at)
    select ${id(1)}, 'em_' || i || '_' || m, e.type, ${START} + m * interval '1 day' + e.after
    from n, generate_series(1, 3) as m,
      (values ('email.delivered', interval '1 minute'), ('email.opened', interval '1 hour')) as e (type, after);
  drop table n;`;

/** What each owner's reports of so many weeks before say: the payload is that of a full report. */
const PAST_REPORTS = (weeks: number) => `
  insert into weekly_performance_reports
    (tenant_id, user_id, window_start, window_end, schema_version, status, fingerprint, evidence, payload,
     coverage_status, completed_at)
    select u.tenant_id, u.id, ${START} - week * interval '168 hours', ${END} - week * interval '168 hours', 1, 'completed',
      repeat('a', 64), '{}', $1::text::jsonb, 'partial', ${END} - week * interval '168 hours'
    from users as u, generate_series(1, ${weeks}) as week;`;

/** Makes the database, with a report of each owner in each of `pastWeeks`. */
export async function manyOwners(
  server: PostgresServer,
  count: number,
  { pastWeeks = 0 } = {},
): Promise<ManyOwners> {
  const db = await server.createDatabase();
  await setClock(db.sql, MONDAY, { ticking: true });
  const senders = await seedSenders(db.sql);
  await db.sql.unsafe(OWNERS(count)).simple();
  if (pastWeeks > 0) await db.sql.unsafe(PAST_REPORTS(pastWeeks), [JSON.stringify(PAYLOADS.full)]);
  await db.sql.unsafe("vacuum analyze");
  return { db, senders };
}
