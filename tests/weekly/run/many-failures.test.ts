import { expect, test } from "bun:test";
import { before } from "../../standins/statement-proxy.ts";
import { seedOwner } from "../../support/seed.ts";
import { SETTLE } from "../support/steps.ts";
import { weeklyFixture } from "../support/weekly-fixture.ts";

test("150 owners without a phone: all are counted, a hundred failures are named", async () => {
  await using weekly = await weeklyFixture();
  await weekly.db.sql`
    with t as (insert into tenants (name) select 'Tenant ' || i from generate_series(1, 150) as i returning id),
      w as (insert into credit_wallets (tenant_id, status) select id, 'active' from t)
    insert into users (tenant_id, role) select id, 'owner' from t`;

  const summary = await weekly.run({ skipEmail: true });

  expect(summary).toMatchObject({
    status: "failed",
    exitCode: 1,
    reports: { scopes: 150, completed: 150, failed: 0 },
    whatsapp: { failed: 150, sent: 0 },
    email: { skipped: 150, failed: 0 },
    failuresTruncated: true,
    heartbeat: "kept",
  });
  expect(summary.failures).toHaveLength(100);
  const rows = await weekly.db.sql`
    select channel, status, error_code, count(*)::int as n
    from weekly_performance_deliveries group by 1, 2, 3 order by 1`;
  expect([...rows]).toEqual([
    { channel: "whatsapp", status: "failed", error_code: "recipient_phone_missing", n: 150 },
  ]);
});

test("110 connections that fail: what fails the run is named all the same, and whether all of them failed", async () => {
  await using weekly = await weeklyFixture();
  const { sql } = weekly.db;
  const networks = Array.from({ length: 110 }, () => "instagram");
  await seedOwner(sql, { networks });
  weekly.application.routes.analysis.script = () => ({ status: 503 });

  const takeOver = () =>
    sql`update weekly_performance_deliveries set claim_token = gen_random_uuid() where status = 'running'`;
  const summary = await weekly.run({}, { at: [before(SETTLE, takeOver, { nth: "every" })] });

  expect(summary).toMatchObject({
    exitCode: 1,
    social: { failed: 110 },
    failuresTruncated: true,
  });
  expect(summary.failures).toHaveLength(100);
  expect(summary.failures.slice(0, 3)).toMatchObject([
    { step: "social", code: "SOCIAL_ALL_CALLS_FAILED" },
    { step: "email", code: "delivery_claim_lost", providerMessageId: weekly.email.accepted[0]!.id },
    { step: "whatsapp", code: "delivery_claim_lost", providerMessageId: weekly.gateway.accepted[0]!.id },
  ]);
});
