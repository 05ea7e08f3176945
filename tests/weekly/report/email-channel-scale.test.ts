import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Payload } from "../../../lib/weekly/payload.ts";
import { type SeededOwner, seedOwner, WEEK } from "../../support/seed.ts";
import { type WeeklyFixture, weeklyFixture } from "../support/weekly-fixture.ts";

let weekly: WeeklyFixture;
let large: SeededOwner;
let small: SeededOwner;
beforeAll(async () => {
  weekly = await weeklyFixture();
  [large, small] = await seedManySends();
});
afterAll(() => weekly[Symbol.asyncDispose]());

/** Two owners, the first with 50,000 sends of the week among 100,000 of many users, each send with two events. */
async function seedManySends(): Promise<[large: SeededOwner, small: SeededOwner]> {
  const { sql } = weekly.db;
  const nothing = { networks: [], sends: [] };
  const large = await seedOwner(sql, nothing);
  const small = await seedOwner(sql, { ...nothing, sends: [["email.clicked"]] });
  const others = await Promise.all(
    Array.from({ length: 20 }, () => seedOwner(sql, { role: "member", ...nothing })),
  );
  const owners = [large, ...others].map(({ tenantId, userId }, n) => ({ tenantId, userId, n }));
  await sql.begin(async (tx) => {
    // Without checks of foreign keys: these 300,000 rows are known to be right.
    await tx`set local session_replication_role = replica`;
    await tx`
      insert into resend_email_sends (tenant_id, user_id, provider_email_id, sent_at)
      select o."tenantId", o."userId", 'em_' || i,
             -- The large owner's first 50,000 are in the week, all others before it.
             case when i < 50000 then timestamptz '2026-11-16T03:00:00Z' + i * interval '12 seconds'
                  else timestamptz '2026-10-01T03:00:00Z' + i * interval '12 seconds' end
      from generate_series(0, 99999) as i
      join jsonb_to_recordset(${JSON.stringify(owners)}::text::jsonb) as o("tenantId" uuid, "userId" uuid, n integer)
        on o.n = case when i < 75000 then 0 else 1 + i % 20 end`;
    await tx`
      insert into resend_email_events (tenant_id, provider_email_id, type, occurred_at)
      select s.tenant_id, s.provider_email_id, e.type, s.sent_at + e.after
      from resend_email_sends as s,
        (values ('email.delivered', interval '1 second'), ('email.opened', interval '2 seconds')) as e(type, after)
      where s.provider_email_id ~ '^em_[0-9]{1,5}$'`;
  });
  return [large, small];
}

type Scans = { table: string; seq: number; index: number; fetched: number };

/** The rows that a run reads of both tables, as the server counts them once the run's connections are closed. */
async function scansOf(planning: string): Promise<Scans[]> {
  const { sql, name, url } = weekly.db;
  const statistics = async () => {
    await sql`select pg_stat_clear_snapshot()`;
    return await sql<Scans[]>`
      select relname as table, seq_scan::int as seq, idx_scan::int as index, idx_tup_fetch::int as fetched
      from pg_stat_user_tables where relname in ('resend_email_sends', 'resend_email_events') order by relname`;
  };
  await sql.unsafe(`alter database ${name} set plan_cache_mode = ${planning}`);
  const before = await statistics();
  // Another address of the same database has connections of its own, which end with the run.
  await weekly.run({ skipWhatsapp: true, skipEmail: true }, { databaseUrl: `${url}?application_name=scale` });
  const after = await statistics();
  return after.map((row, i) => ({
    table: row.table,
    seq: row.seq - before[i]!.seq,
    index: row.index - before[i]!.index,
    fetched: row.fetched - before[i]!.fetched,
  }));
}

describe.each(["never analyzed", "analyzed"])("a run over 100,000 sends and 200,000 events, %s", (state) => {
  test.each(["force_custom_plan", "force_generic_plan"])(
    "reads them by index only (%s)",
    async (planning) => {
      await weekly.db.sql.begin(async (tx) => {
        await tx`set local session_replication_role = replica`;
        await tx`delete from weekly_performance_reports`;
      });
      if (state === "analyzed") await weekly.db.sql`analyze`;
      const [events, sends] = (await scansOf(planning)) as [Scans, Scans];
      expect([events.table, events.seq, sends.table, sends.seq]).toEqual([
        ...["resend_email_events", 0],
        ...["resend_email_sends", 0],
      ]);
      // One index search per send of the week: the work grows with the week's sends, not with the mirror.
      expect(events.index).toBeWithin(50_000, 50_010);
      expect(events.fetched).toBeLessThanOrEqual(100_010);
      expect(sends.fetched).toBeWithin(50_001, 50_010);
      const reports = await weekly.db.sql<{ user_id: string; payload: Payload }[]>`
      select user_id, payload from weekly_performance_reports where window_start = ${WEEK.start}`;
      const metricsOf = ({ userId }: SeededOwner) =>
        reports.find(({ user_id }) => user_id === userId)!.payload.channels.email.metrics;
      expect(metricsOf(large)).toMatchObject({ sends: 50_000, noEvent: 0, opened: 50_000, delivered: 0 });
      expect(metricsOf(small)).toMatchObject({ sends: 1, noEvent: 0, clicked: 1 });
    },
  );
});
