import { describe, expect, test } from "bun:test";
import { applyMigrations } from "../../../lib/migrate/run.ts";
import { connect, PASSWORD, sharedPostgres } from "../../support/postgres.ts";
import { newLogin } from "../../support/roles.ts";
import { MONDAY, seedOwner, setClock } from "../../support/seed.ts";
import { runAs } from "../support/run-as.ts";
import { storedReport } from "../support/stored-report.ts";
import { type WeeklyFixture, weeklyFixture } from "../support/weekly-fixture.ts";

/** A dry run, a whole run and a second one; what the second finds is what the first wrote. */
async function expectWholeRun(weekly: WeeklyFixture, login: string): Promise<void> {
  const { sql } = weekly.db;
  const owner = await seedOwner(sql);
  await seedOwner(sql, { networks: [], sends: [], phone: null });
  expect(await runAs(weekly, login, { dryRun: true })).toMatchObject({
    status: "not_ready",
    failures: [{ code: "recipient_phone_missing" }],
  });
  const editorials = { enabled: true, maxLlmCalls: 30, secretPresent: true };
  const summary = await runAs(weekly, login, { editorials });
  expect(summary).toMatchObject({
    exitCode: 1,
    reports: { scopes: 2, completed: 2, failed: 0 },
    social: { calls: 2, failed: 0 },
    whatsapp: { sent: 1, failed: 1 },
    email: { sent: 2, failed: 0 },
    editorials: { status: "completed" },
    failures: [{ step: "whatsapp", code: "recipient_phone_missing" }],
  });
  const { channels, accountScore } = (await storedReport(sql, owner)).payload;
  expect(accountScore.score).toBe(73);
  expect([channels.email.status, channels.instagram.status, channels.linkedin.status]).toEqual([
    "available",
    "available",
    "available",
  ]);
  expect([...(await sql`select source from timeline_entries`)]).toEqual([
    { source: "weekly_performance_report" },
  ]);
  expect(await runAs(weekly, login)).toMatchObject({
    reports: { completed: 0, reused: 2 },
    whatsapp: { sent: 0, reused: 1, failed: 1 },
    email: { sent: 0, reused: 2 },
  });
}

describe("a whole run, on a database whose default privileges grant everything to everybody", () => {
  test("works as service_role itself", async () => {
    await using weekly = await weeklyFixture();
    await weekly.db.sql.unsafe(`alter role service_role login password '${PASSWORD}'`);
    try {
      await expectWholeRun(weekly, "service_role");
    } finally {
      await weekly.db.sql`alter role service_role nologin password null`;
    }
  });

  test("works as a login that is a member of service_role", async () => {
    await using weekly = await weeklyFixture();
    await expectWholeRun(weekly, await newLogin(weekly.db.sql, "grant service_role to"));
  });

  test("works as the plain owner who migrated", async () => {
    await using weekly = await weeklyFixture();
    const { db } = weekly;
    const login = await newLogin(db.sql);
    await db.sql.unsafe(`
      drop table weekly_performance_erased_messages, weekly_performance_reconciliations,
        weekly_performance_deliveries, weekly_performance_reports, opsctl_migrations cascade`);
    const functions = await db.sql`
      select oid::regprocedure::text as name from pg_proc
      where pronamespace = 'public'::regnamespace and proname like '%weekly_performance%'`;
    for (const { name } of functions) await db.sql.unsafe(`drop function ${name} cascade`);
    await db.sql.unsafe(`
      alter database ${db.name} owner to ${login};
      grant usage on schema auth to ${login};
      grant select on all tables in schema public to ${login};
      grant references on tenants, users to ${login};
      grant insert on timeline_entries to ${login};
      alter default privileges for role ${login} in schema public
        grant all on tables to anon, authenticated, service_role;
      alter default privileges for role ${login} in schema public
        grant all on functions to anon, authenticated, service_role;`);
    const sql = connect((await sharedPostgres()).url(db.name, login));
    try {
      await applyMigrations({ sql });
      await setClock(sql, MONDAY);
    } finally {
      await sql.end();
    }
    await expectWholeRun(weekly, login);
  });
});
