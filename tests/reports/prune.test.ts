import { beforeEach, expect, test } from "bun:test";
import { pruneReports } from "../../lib/reports/prune.ts";
import { renderPruned } from "../../lib/reports/render-pruned.ts";
import { NO_TERMINAL } from "../../lib/text/terminal/screen.ts";
import { describeLedger, type Ledger } from "../sql/support/ledger.ts";
import { connect } from "../support/postgres.ts";

const never = new AbortController().signal;

/** Completed reports of the week of 2026-11-16, in one statement. */
async function completedReports(ledger: Ledger, count: number): Promise<void> {
  await ledger.sql.unsafe(`
    with t as (insert into tenants (name) select 'Tenant ' || i from generate_series(1, ${count}) as i returning id),
         u as (insert into users (tenant_id, role) select id, 'owner' from t returning id, tenant_id)
    insert into weekly_performance_reports
      (tenant_id, user_id, window_start, window_end, schema_version, status, fingerprint, evidence, payload,
       coverage_status, completed_at)
    select tenant_id, id, '2026-11-16T03:00:00Z', '2026-11-23T03:00:00Z', 1, 'completed', repeat('a', 64), '{}', '{}',
           'partial', now() from u`);
}

async function withContent(ledger: Ledger): Promise<number> {
  const [row] = await ledger.sql`select count(payload)::int as count from weekly_performance_reports`;
  return row!.count;
}

describeLedger("pruneReports()", (ledger) => {
  beforeEach(async () => {
    await ledger.empty();
    await ledger.setClock("2027-01-18T11:00:00Z");
  });

  test("removes batch after batch until nothing is left, and nothing the second time", async () => {
    await completedReports(ledger, 2_345);
    expect(await pruneReports(ledger.sql, "2026-11-23", never)).toEqual({
      before: "2026-11-23",
      reports: 2_345,
      left: false,
    });
    expect(await withContent(ledger)).toBe(0);
    expect(await pruneReports(ledger.sql, "2026-11-23", never)).toMatchObject({ reports: 0, left: false });
  });

  test("takes the date as São Paulo's, whatever zone the session has", async () => {
    await completedReports(ledger, 1);
    const session = connect(ledger.database.url);
    try {
      await session`set time zone 'Pacific/Kiritimati'`;
      expect(await pruneReports(session, "2026-11-16", never)).toMatchObject({ reports: 0 });
      expect(await pruneReports(session, "2026-11-23", never)).toMatchObject({ reports: 1 });
    } finally {
      await session.end();
    }
  });

  test("refuses a week that is younger than eight weeks, says the latest date, and removes nothing", async () => {
    await completedReports(ledger, 3);
    await expect(pruneReports(ledger.sql, "2026-11-30", never)).rejects.toMatchObject({
      code: "PRUNE_WEEK_TOO_YOUNG",
      hint: "The latest date is 2026-11-23 now",
    });
    expect(await withContent(ledger)).toBe(3);
  });

  test("ends between two batches when it is asked to, and goes on the next time", async () => {
    await completedReports(ledger, 1_500);
    const interrupt = new AbortController();
    const sql = Object.assign((...args: Parameters<typeof ledger.sql>) => {
      interrupt.abort();
      return ledger.sql(...args);
    }, ledger.sql) as typeof ledger.sql;
    const first = await pruneReports(sql, "2026-11-23", interrupt.signal);
    expect(first).toEqual({ before: "2026-11-23", reports: 1_000, left: true });
    expect(renderPruned(first, NO_TERMINAL)).toContain("run it again for the rest");
    expect(await pruneReports(ledger.sql, "2026-11-23", never)).toMatchObject({ reports: 500, left: false });
  });

  test("says that something is left while another session locks it", async () => {
    await completedReports(ledger, 3);
    const holder = await ledger.sql.reserve();
    try {
      await holder`begin`;
      await holder`select id from weekly_performance_reports order by id limit 1 for update`;
      expect(await pruneReports(ledger.sql, "2026-11-23", never)).toMatchObject({ reports: 2, left: true });
    } finally {
      await holder`rollback`;
      holder.release();
    }
    expect(await pruneReports(ledger.sql, "2026-11-23", never)).toMatchObject({ reports: 1, left: false });
  });

  test("two at once remove each report once", async () => {
    await completedReports(ledger, 2_500);
    const both = await Promise.all([1, 2].map(() => pruneReports(ledger.sql, "2026-11-23", never)));
    expect(both.reduce((sum, { reports }) => sum + reports, 0)).toBe(2_500);
    expect(await withContent(ledger)).toBe(0);
  });
});
