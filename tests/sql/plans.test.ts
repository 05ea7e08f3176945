/** How the functions find their rows: a plan from the first owner's time has to serve the ten thousandth too. */
import { expect, test } from "bun:test";
import { describeLedger, Ledger, WEEK } from "./support/ledger.ts";

/** More than the executions after which a session keeps one plan for all values. */
const FIRST_REPORTS = 12;

describeLedger("a session that planned on empty tables", (ledger) => {
  test("finds reports and deliveries by key", async () => {
    await ledger.sql`vacuum analyze weekly_performance_reports, weekly_performance_deliveries`;
    const session = await ledger.sql.reserve();
    try {
      const single = new Ledger(() => ({ ...ledger.database, sql: session as never }), ledger.major);
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
