/** How the functions find their rows: a plan from the first owner's time has to serve the ten thousandth too. */
import { expect, test } from "bun:test";
import postgres from "postgres";
import { WEEK } from "../support/seed.ts";
import { describeLedger, type Ledger } from "./support/ledger.ts";

/** More than the executions after which a session keeps one plan for all values. */
const FIRST_REPORTS = 12;

/** Completed reports of `owners` in the `weeks` before. */
const PAST_REPORTS = (owners: number, weeks: number) => `
  set local session_replication_role = replica;
  insert into weekly_performance_reports
    (tenant_id, user_id, window_start, window_end, schema_version, status, fingerprint, evidence, payload,
     coverage_status, completed_at)
  select gen_random_uuid(), gen_random_uuid(), '${WEEK.start}'::timestamptz - week * interval '168 hours',
    '${WEEK.end}'::timestamptz - week * interval '168 hours', 1, 'completed', repeat('a', 64), '{}',
    '{"accountScore": {"score": 5}}', 'partial', now()
  from generate_series(1, ${weeks}) as week, generate_series(1, ${owners});`;

describeLedger("a session that begins on years of reports", (ledger) => {
  /** How often `work` looks up each index of opsctl's, in a session of its own and one transaction. */
  async function lookups(work: (single: Ledger) => Promise<unknown>): Promise<Record<string, number>> {
    const sql = postgres(ledger.database.url, { max: 1, onnotice: () => {} });
    try {
      // In one transaction: these counts are of that alone, and up to date.
      await sql`begin`;
      await work(ledger.on(sql));
      const rows = await sql`
        select c.relname as index, pg_stat_get_xact_numscans(c.oid)::int as lookups
        from pg_class as c where c.relkind = 'i' and starts_with(c.relname, 'weekly_performance_')`;
      await sql`rollback`;
      return Object.fromEntries(rows.map((row) => [row.index, row.lookups]));
    } finally {
      await sql.end();
    }
  }

  async function expectKeysAlone(): Promise<void> {
    const found = await lookups(async ({ sql }) => {
      await sql`select public.weekly_performance_report_history(
        gen_random_uuid(), gen_random_uuid(), ${WEEK.start}::text::timestamptz, 1, 7)`;
    });
    const used = Object.keys(found).filter((index) => found[index]! > 0);
    // Both hold this owner's reports together.
    expect(
      ["weekly_performance_reports_key", "weekly_performance_reports_user"].map((index) => [index]),
    ).toContainEqual(used);
  }

  test("reads the history by its keys, without statistics and with those of all weeks before", async () => {
    await ledger.sql`vacuum analyze weekly_performance_reports`;
    await ledger.sql.unsafe(PAST_REPORTS(400, 8)).simple();
    await expectKeysAlone();
    await ledger.sql`vacuum analyze weekly_performance_reports`;
    await expectKeysAlone();
  });
});

describeLedger("a session that planned on empty tables", (ledger) => {
  test("finds reports and deliveries by key", async () => {
    await ledger.sql`vacuum analyze weekly_performance_reports`;
    const session = await ledger.sql.reserve();
    try {
      const single = ledger.on(session);
      const deliverOne = async () => {
        const claim = await single.dispatchedDelivery();
        await single.settle(claim, "sent", `id-${claim.id}`);
      };
      for (let i = 0; i < FIRST_REPORTS; i += 1) await deliverOne();
      // In one transaction: these counts are of that alone, and up to date.
      await session`begin`;
      await deliverOne();
      const scans = await session`
        select relname, seq_scan::int as scans from pg_stat_xact_user_tables
        where relname in ('weekly_performance_reports', 'weekly_performance_deliveries', 'tenants', 'users',
                          'credit_wallets') order by relname`;
      await session`rollback`;
      expect(scans.map(({ relname, scans }) => [relname, scans])).toEqual([
        ["credit_wallets", 0],
        ["tenants", 0],
        ["users", 0],
        ["weekly_performance_deliveries", 0],
        ["weekly_performance_reports", 0],
      ]);
    } finally {
      session.release();
    }
  });

  test("finds the weeks before by key", async () => {
    await ledger.sql`vacuum analyze weekly_performance_reports`;
    const owner = await ledger.newOwner();
    const session = await ledger.sql.reserve();
    try {
      const read = () => session`
        select public.weekly_performance_report_history(
                 ${owner.tenantId}::uuid, ${owner.userId}::uuid, ${WEEK.start}::text::timestamptz, 1, 7) as history,
               public.weekly_performance_tenant_name(${owner.tenantId}::uuid) as name`;
      for (let i = 0; i < FIRST_REPORTS; i += 1) await read();
      // The session's counts grow; in one transaction they are up to date.
      await session`begin`;
      const counts = async () =>
        await session`
          select relname, seq_scan::int as scans, idx_scan::int as lookups from pg_stat_xact_user_tables
          where relname in ('weekly_performance_reports', 'tenants') order by relname`;
      const before = await counts();
      await read();
      const made = (await counts()).map(({ relname, scans, lookups }, i) => [
        relname,
        scans - before[i]!.scans,
        lookups - before[i]!.lookups,
      ]);
      await session`rollback`;
      expect(made).toEqual([
        ["tenants", 0, 1],
        ["weekly_performance_reports", 0, 7],
      ]);
    } finally {
      session.release();
    }
  });
});
