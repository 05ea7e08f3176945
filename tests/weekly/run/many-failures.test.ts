import { expect, test } from "bun:test";
import { createTally, FAILURES_SHOWN } from "../../../lib/weekly/context/summary.ts";
import { seedOwner } from "../../support/seed.ts";
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

test("createTally() keeps a bounded number of failures however many there are", () => {
  const tally = createTally();
  for (let i = 0; i < FAILURES_SHOWN; i += 1) tally.fail({ step: "social", code: `code_${i}` });
  expect(tally.failuresTruncated).toBe(false);
  for (let i = 0; i < 10_000; i += 1) tally.fail({ step: "social", code: "later" });
  expect(tally.failures).toHaveLength(FAILURES_SHOWN);
  expect(tally.failures.at(-1)!.code).toBe(`code_${FAILURES_SHOWN - 1}`);
  expect(tally.failuresTruncated).toBe(true);
});

test("createTally() lets what fails a run take the place of single connections, never the other way round", () => {
  const tally = createTally();
  for (let i = 0; i < 150; i += 1) tally.fail({ step: "social", code: `connection_${i}` });
  for (let i = 0; i < 3; i += 1) tally.fail({ step: "email", code: `email_${i}` });
  tally.fail({ step: "social", code: "later" });
  expect(tally.failures).toHaveLength(FAILURES_SHOWN);
  expect(tally.failures.slice(-4).map(({ code }) => code)).toEqual([
    "connection_96",
    "email_0",
    "email_1",
    "email_2",
  ]);
  for (let i = 0; i < 150; i += 1) tally.fail({ step: "report", code: "report_busy" });
  expect(tally.failures.filter(({ step }) => step === "social")).toEqual([]);
  expect(tally.failures[0]!.code).toBe("email_0");
});

test("110 connections that fail: what fails the run is named all the same, and whether all of them failed", async () => {
  await using weekly = await weeklyFixture();
  const { sql } = weekly.db;
  const networks = Array.from({ length: 110 }, () => "instagram");
  await seedOwner(sql, { networks });
  weekly.application.routes.analysis.script = () => ({ status: 503 });

  const summary = await weekly.run(
    {},
    {
      wrapStore: (store) => ({
        async settleDelivery(delivery, result) {
          await sql`
            update weekly_performance_deliveries set claim_token = gen_random_uuid() where id = ${delivery.id}`;
          return await store.settleDelivery(delivery, result);
        },
      }),
    },
  );

  expect(summary).toMatchObject({
    exitCode: 1,
    // Each was asked twice.
    social: { calls: 220, failed: 110 },
    failuresTruncated: true,
  });
  expect(summary.failures).toHaveLength(100);
  expect(summary.failures.slice(0, 3)).toMatchObject([
    { step: "social", code: "SOCIAL_ALL_CALLS_FAILED" },
    { step: "email", code: "delivery_claim_lost", providerMessageId: weekly.email.accepted[0]!.id },
    { step: "whatsapp", code: "delivery_claim_lost", providerMessageId: weekly.gateway.accepted[0]!.id },
  ]);
});
