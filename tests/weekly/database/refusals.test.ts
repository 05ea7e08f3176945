import { describe, expect, test } from "bun:test";
import { databaseSnapshot } from "../../support/database-snapshot.ts";
import { newLogin } from "../../support/roles.ts";
import { seedOwner } from "../../support/seed.ts";
import { runAs } from "../support/run-as.ts";
import { type WeeklyFixture, weeklyFixture } from "../support/weekly-fixture.ts";

type Fault = { code: string; spoil(weekly: WeeklyFixture, login: string): string };

const sqlOf = (code: string, sql: string): Fault => ({ code, spoil: () => sql });
const REPORT_KEY = "uuid, uuid, timestamptz, timestamptz, integer";

const FAULTS: Record<string, Fault> = {
  "no list of scopes": sqlOf(
    "DATABASE_NOT_MIGRATED",
    "drop function list_weekly_performance_report_scopes(uuid)",
  ),
  "no claim of reports": sqlOf(
    "DATABASE_NOT_MIGRATED",
    `drop function claim_weekly_performance_report(${REPORT_KEY}, uuid)`,
  ),
  "no persist": sqlOf(
    "DATABASE_NOT_MIGRATED",
    `drop function persist_weekly_performance_report(uuid, uuid, ${REPORT_KEY}, text, text, jsonb)`,
  ),
  "no claim of deliveries": sqlOf(
    "DATABASE_NOT_MIGRATED",
    "drop function claim_weekly_performance_delivery(uuid, text, uuid)",
  ),
  "no clock": sqlOf("DATABASE_NOT_MIGRATED", "drop function weekly_performance_now()"),
  "no ledger": sqlOf("DATABASE_NOT_MIGRATED", "drop table weekly_performance_deliveries cascade"),
  "no phone column": sqlOf("DATABASE_SCHEMA_MISSING", "alter table users rename column phone to telephone"),
  "no archive marker": sqlOf("DATABASE_SCHEMA_MISSING", "alter table tenants drop column archived_at"),
  "no mirror of events": sqlOf("DATABASE_SCHEMA_MISSING", "drop table resend_email_events"),
  "a mirror that may not be read": sqlOf(
    "DATABASE_GRANT_MISSING",
    "revoke select on resend_email_sends from service_role",
  ),
  "a function that may not be called": sqlOf(
    "DATABASE_GRANT_MISSING",
    "revoke execute on function fail_weekly_performance_report(uuid, uuid, text) from service_role",
  ),
  "a login that is no member": {
    code: "DATABASE_GRANT_MISSING",
    spoil: (_weekly, login) => `revoke service_role from ${login}`,
  },
  "row security that hides the scores": sqlOf(
    "DATABASE_ROW_SECURITY",
    "alter table social_account_scores enable row level security",
  ),
  "row security that hides the people": sqlOf(
    "DATABASE_ROW_SECURITY",
    "alter table users enable row level security",
  ),
};

describe("a database that is not ready refuses the real run as well as the dry one, and nothing is written", () => {
  test.each(Object.entries(FAULTS))("%s", async (_what, { code, spoil }) => {
    await using weekly = await weeklyFixture();
    const { db } = weekly;
    await seedOwner(db.sql);
    const login = await newLogin(db.sql, "grant service_role to");
    await db.sql.unsafe(spoil(weekly, login));
    const before = await databaseSnapshot(db.sql);

    for (const dryRun of [true, false]) {
      const summary = await runAs(weekly, login, { dryRun });
      expect(summary).toMatchObject({
        status: "not_ready",
        exitCode: 3,
        error: { code },
        heartbeat: "kept",
        reports: { scopes: 0, completed: 0 },
      });
      expect(summary.failures.length).toBeGreaterThan(0);
      expect(new Set(summary.failures.map((failure) => `${failure.step} ${failure.code}`))).toEqual(
        new Set([`readiness ${code}`]),
      );
    }
    expect(await databaseSnapshot(db.sql)).toEqual(before);
    const { application, gateway, email } = weekly;
    expect([application.ledger, gateway.ledger, email.ledger]).toEqual([[], [], []]);
  });
});
