import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { openDatabase } from "../../../lib/platform/database/pool.ts";
import { Secret } from "../../../lib/platform/secrets/secret.ts";
import type { EmailCounts } from "../../../lib/weekly/database/evidence.ts";
import type { Scope } from "../../../lib/weekly/database/recipients.ts";
import { weeklyStore } from "../../../lib/weekly/database/store.ts";
import { WEEK } from "../../support/seed.ts";
import { type EvidenceFixture, evidenceFixture } from "../support/evidence-fixture.ts";

let weekly: EvidenceFixture;
let large: Scope;
let small: Scope;

/** A tenant with 50,000 sends of the week among 100,000, each send with two events. */
beforeAll(async () => {
  weekly = await evidenceFixture();
  const { sql } = weekly.db;
  [large, small] = [await weekly.newOwner(), await weekly.newOwner()];
  const others = await Promise.all(Array.from({ length: 20 }, () => weekly.newOwner()));
  const owners = [large, ...others].map(({ tenantId, userId }) => ({ tenantId, userId }));
  const numbered = JSON.stringify(owners.map((owner, n) => ({ ...owner, n })));
  await sql.begin(async (tx) => {
    // Without checks of foreign keys: these 300,000 rows are known to be right.
    await tx`set local session_replication_role = replica`;
    await tx`
      insert into resend_email_sends (tenant_id, user_id, provider_email_id, sent_at)
      select o."tenantId", o."userId", 'em_' || i,
             -- The large owner's first 50,000 lie in the week, all others before it.
             case when i < 50000 then timestamptz '2026-11-16T03:00:00Z' + i * interval '12 seconds'
                  else timestamptz '2026-10-01T03:00:00Z' + i * interval '12 seconds' end
      from generate_series(0, 99999) as i
      join jsonb_to_recordset(${numbered}::text::jsonb) as o("tenantId" uuid, "userId" uuid, n integer)
        on o.n = case when i < 75000 then 0 else 1 + i % 20 end`;
    await tx`
      insert into resend_email_events (tenant_id, provider_email_id, type, occurred_at)
      select s.tenant_id, s.provider_email_id, e.type, s.sent_at + e.after
      from resend_email_sends as s,
        (values ('email.delivered', interval '1 second'), ('email.opened', interval '2 seconds')) as e(type, after)`;
  });
  await weekly.writeSends(
    [{ ...small, emailId: "em_small", at: "2026-11-18T12:00:00Z" }],
    [{ tenantId: small.tenantId, emailId: "em_small", type: "email.clicked", at: "2026-11-18T12:05:00Z" }],
  );
});
afterAll(() => weekly.close());

type Scans = { table: string; seq: number; index: number; fetched: number };

/** The rows that are scanned to read the weeks of both owners, as the server counts them, in a session of its own. */
async function scansOf(planning: string): Promise<{ counts: EmailCounts[]; scans: Scans[] }> {
  const { sql, name } = weekly.db;
  const statistics = async () =>
    await sql<Scans[]>`
      select relname as table, seq_scan::int as seq, idx_scan::int as index, idx_tup_fetch::int as fetched
      from pg_stat_user_tables where relname in ('resend_email_sends', 'resend_email_events') order by relname`;
  await sql.unsafe(`alter database ${name} set plan_cache_mode = ${planning}`);
  const before = await statistics();
  const database = await openDatabase(new Secret(weekly.db.url), { max: 1, applicationName: randomUUID() });
  const counts: EmailCounts[] = [];
  try {
    const store = weeklyStore(database.sql);
    for (const owner of [large, small]) counts.push((await store.readEvidence(owner, WEEK, [])).email);
    await database.sql`select pg_stat_force_next_flush()`;
    await database.sql`select 1`;
  } finally {
    await database.close();
  }
  await sql`select pg_stat_clear_snapshot()`;
  const after = await statistics();
  const scans = after.map((row, i) => ({
    table: row.table,
    seq: row.seq - before[i]!.seq,
    index: row.index - before[i]!.index,
    fetched: row.fetched - before[i]!.fetched,
  }));
  return { counts, scans };
}

describe.each(["never analyzed", "analyzed"])("100,000 sends and 200,000 events, %s", (state) => {
  beforeAll(async () => {
    if (state === "analyzed") await weekly.db.sql`analyze`;
  });

  test.each(["force_custom_plan", "force_generic_plan"])("are read by index only (%s)", async (planning) => {
    const { counts, scans } = await scansOf(planning);

    expect(counts[0]).toMatchObject({ sends: 50_000, events: 50_000, opened: 50_000, delivered: 0 });
    expect(counts[1]).toMatchObject({ sends: 1, events: 1, clicked: 1 });
    expect(scans.map(({ table, seq }) => ({ table, seq }))).toEqual([
      { table: "resend_email_events", seq: 0 },
      { table: "resend_email_sends", seq: 0 },
    ]);
    const [events, sends] = scans as [Scans, Scans];
    // One index search per send of the week: the work grows with the cohort, not with the mirror.
    expect(events.index).toBeLessThanOrEqual(50_001);
    expect(events.fetched).toBeLessThanOrEqual(100_002);
    expect(sends.fetched).toBeLessThanOrEqual(50_001);
  });
});
