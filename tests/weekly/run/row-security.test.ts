import { describe, expect, test } from "bun:test";
import type postgres from "postgres";
import { databaseError, openDatabase } from "../../../lib/platform/database/pool.ts";
import { Secret } from "../../../lib/platform/secrets/secret.ts";
import { previewReports } from "../../../lib/weekly/preview.ts";
import { sharedPostgres } from "../../support/postgres.ts";
import { newLogin } from "../../support/roles.ts";
import { seedOwner } from "../../support/seed.ts";
import { runAs } from "../support/run-as.ts";
import { weeklyFixture } from "../support/weekly-fixture.ts";

describe("runWeekly() while the application switches row security on", () => {
  test.each([
    "social_connections",
    "social_account_scores",
    "social_channel_analyses",
    "resend_email_sends",
    "resend_email_events",
  ])("a hidden row of %s is not treated as missing", async (table) => {
    await using weekly = await weeklyFixture();
    const { sql } = weekly.db;
    for (let n = 0; n < 3; n += 1) await seedOwner(sql);
    const login = await newLogin(sql, "grant service_role to");
    const write = weekly.onAnalyze;
    weekly.onAnalyze = async (call) => {
      await write(call);
      if (weekly.application.ledger.length === 2)
        await sql.unsafe(`alter table ${table} enable row level security`);
    };

    const during = await runAs(weekly, login, { concurrency: 1 });
    expect(during).toMatchObject({ exitCode: 1, reports: { completed: 0, failed: 3 }, heartbeat: "kept" });
    expect(new Set(during.failures.map(({ code }) => code))).toEqual(new Set(["report_evidence_failed"]));
    expect(await runAs(weekly, login)).toMatchObject({ error: { code: "DATABASE_ROW_SECURITY" } });

    await sql.unsafe(`alter table ${table} disable row level security`);
    expect(await runAs(weekly, login)).toMatchObject({ exitCode: 0, reports: { completed: 3 } });
    const found = await sql`
      select bool_and(payload ->> 'missingChannels' = '["blog", "tiktok"]') as whole,
             bool_and((payload #>> '{accountScore,score}')::numeric = 73) as scored
      from weekly_performance_reports`;
    expect(found[0]).toEqual({ whole: true, scored: true });
  });

  test.each(["tenants", "users", "credit_wallets"])(
    "an owner hidden by row security of %s is not treated as one who gets no report",
    async (table) => {
      await using weekly = await weeklyFixture();
      const { sql } = weekly.db;
      for (let n = 0; n < 3; n += 1) await seedOwner(sql);
      await giveAllTo(sql, await newLogin(sql));
      const write = weekly.onAnalyze;
      weekly.onAnalyze = async (call) => {
        await write(call);
        if (weekly.application.ledger.length === 2)
          for (const word of ["enable", "force"])
            await sql.unsafe(`alter table ${table} ${word} row level security`);
      };

      const during = await weekly.run({ concurrency: 1 });
      expect(during).toMatchObject({ exitCode: 1, reports: { ineligible: 0, failed: 2 }, heartbeat: "kept" });
      expect(await weekly.run()).toMatchObject({ error: { code: "DATABASE_ROW_SECURITY" } });

      await sql.unsafe(`alter table ${table} disable row level security`);
      expect(await weekly.run()).toMatchObject({ exitCode: 0, reports: { completed: 2, reused: 1 } });
    },
  );
});

describe("previewReports() under row security", () => {
  test("drafts nothing of rows that it cannot see, and says so", async () => {
    await using weekly = await weeklyFixture();
    const { sql } = weekly.db;
    const { tenantId } = await seedOwner(sql);
    await sql`alter table social_account_scores enable row level security`;
    const url = (await sharedPostgres()).url(weekly.db.name, await newLogin(sql, "grant service_role to"));
    const database = await openDatabase(new Secret(url), { max: 1, applicationName: "opsctl-test" });

    const drawn = previewReports(database.sql, {
      ...{ tenantId, week: undefined, version: "0.0.0-test" },
      ...{ appBaseUrl: "https://app.example", unsubscribe: null },
    });
    const error = await drawn.catch((thrown: unknown) => databaseError(thrown, "preview the reports"));
    await database.close();
    expect(error).toMatchObject({
      code: "DATABASE_PERMISSION_DENIED",
      message: expect.stringContaining("row security hides rows"),
      hint: expect.stringContaining("opsctl doctor weekly"),
    });
  });
});

/** The application's and opsctl's tables and functions belong to a login that row security can hold back. */
async function giveAllTo(sql: postgres.Sql, login: string): Promise<void> {
  await sql.unsafe(`
    do $$
    declare
      v_change text;
    begin
      for v_change in
        select format('alter table %s owner to ${login}', c.oid::regclass)
        from pg_class as c where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'
        union all
        select format('alter function %s owner to ${login}', p.oid::regprocedure)
        from pg_proc as p where p.pronamespace = 'public'::regnamespace
      loop
        execute v_change;
      end loop;
    end $$`);
}
