import { describe, expect, test } from "bun:test";
import { seedOwner, seedSends, WEEK, writeAnalysis } from "../../support/seed.ts";
import { storedReport } from "../support/stored-report.ts";
import { weeklyFixture } from "../support/weekly-fixture.ts";

/** Keys that jsonb puts into another order than they were written in, and texts that are not plain. */
const METRICS = { zz: 1, a: 2.5, followers: 12840, "10": 3, "2": 4, engagementRate: 0.0471, saves: null };
const INSIGHTS = [
  {
    value: 12,
    previous: 10,
    metric: "reach",
    text: 'O alcance cresceu 12% & "mais" <b>😀</b>',
    code: "reach_up",
  },
];

describe("a report whose delivery failed", () => {
  test("is sent later as it was stored, byte for byte, whatever the data say by then", async () => {
    await using weekly = await weeklyFixture();
    const { db, gateway, email, application } = weekly;
    const { sql } = db;
    const owner = await seedOwner(sql, {
      networks: ["instagram"],
      sends: [["email.opened"], ["email.delivered"]],
    });
    weekly.onAnalyze = (body) =>
      writeAnalysis(sql, body, { score: 71.3, metrics: METRICS, insights: INSIGHTS });
    const refusal = { status: 422, json: { statusCode: 422, name: "validation_error", message: "no" } };
    gateway.absentNumbers.add(owner.phone!.replace(/\D/g, ""));
    email.routes.send.next(refusal);

    expect(await weekly.run()).toMatchObject({
      exitCode: 1,
      reports: { completed: 1 },
      whatsapp: { failed: 1 },
      email: { failed: 1 },
    });
    const stored = await storedReport(sql, owner);

    // Everything that a report is made from changes.
    await sql`update social_account_scores set score = 5`;
    await sql`
      update social_channel_analyses
      set metrics = '{"reach": 1}', insights = '[]', coverage_status = 'partial', updated_at = now()`;
    await sql`delete from resend_email_events`;
    await seedSends(sql, owner, [["email.bounced"], ["email.bounced"]]);
    await seedSends(sql, owner, [["email.bounced"]], WEEK.start);
    await sql`update social_connections set status = 'revoked'`;
    gateway.absentNumbers.clear();

    expect(await weekly.run()).toMatchObject({
      exitCode: 0,
      reports: { completed: 0, reused: 1, partialCoverage: 1 },
      social: { calls: 0 },
      whatsapp: { sent: 1 },
      email: { sent: 1 },
    });
    expect(await storedReport(sql, owner)).toEqual(stored);
    expect(application.analyzed).toHaveLength(1);

    const bodies = (calls: { rawBody: string }[]) => calls.map(({ rawBody }) => rawBody);
    const [firstText, secondText] = bodies(gateway.routes.send.calls);
    const [firstEmail, secondEmail] = bodies(email.routes.send.calls);
    expect(gateway.routes.send.calls).toHaveLength(2);
    expect(email.routes.send.calls).toHaveLength(2);
    expect(secondText).toBe(firstText!);
    expect(secondEmail).toBe(firstEmail!);
    expect(gateway.accepted[0]!.text).toContain("Score geral: 71");
    const keys = email.routes.send.calls.map(({ headers }) => headers["idempotency-key"]);
    expect(keys[1]).toBe(keys[0]!);
  });

  test("is sent also when it was stored before reports said what was reached", async () => {
    await using weekly = await weeklyFixture();
    const { db, email } = weekly;
    const owner = await seedOwner(db.sql, { sends: [["email.opened"], ["email.clicked"], []] });
    await weekly.run({ skipEmail: true });
    await db.sql.begin(async (tx) => {
      // As an older version wrote it: a completed row cannot be changed otherwise.
      await tx`set local session_replication_role = replica`;
      await tx`
        update weekly_performance_reports
        set payload = jsonb_set(payload, '{channels,email}', (payload #> '{channels,email}')
                                  || '{"coverageStatus": "complete", "reason": null}')
                      #- '{channels,email,metrics,reached}'`;
    });

    expect(await weekly.run()).toMatchObject({ exitCode: 0, reports: { reused: 1 }, email: { sent: 1 } });
    expect((await storedReport(db.sql, owner)).payload.channels.email.metrics).not.toHaveProperty("reached");
    const text = email.accepted[0]!.text!;
    expect(text).not.toContain("E-mail (dados parciais)");
    expect(text).toContain("- Abertos, sem clique: 1");
    expect(text).not.toContain("- Abertos: ");
  });

  test("goes to the number and the address of today", async () => {
    await using weekly = await weeklyFixture();
    const { sql } = weekly.db;
    await seedOwner(sql, { phone: null, email: null });
    expect(await weekly.run()).toMatchObject({ exitCode: 1, whatsapp: { failed: 1 }, email: { failed: 1 } });
    await sql`update users set phone = '11 98765-4321', email = 'new@client.example'`;
    expect(await weekly.run()).toMatchObject({ exitCode: 0, whatsapp: { sent: 1 }, email: { sent: 1 } });
    expect(weekly.gateway.accepted.map(({ number }) => number)).toEqual(["5511987654321"]);
    expect(weekly.email.accepted.map(({ to }) => String(to))).toEqual(["new@client.example"]);
  });
});

test("a stored payload that nobody can read any more fails its own report only", async () => {
  await using weekly = await weeklyFixture();
  const { sql } = weekly.db;
  const [spoilt] = [await seedOwner(sql), await seedOwner(sql)];
  await weekly.run({ skipWhatsapp: true, skipEmail: true });
  await sql`alter table weekly_performance_reports disable trigger all`;
  await sql`
    update weekly_performance_reports set payload = payload - 'channels' where user_id = ${spoilt!.userId}`;
  expect(await weekly.run()).toMatchObject({
    exitCode: 1,
    reports: { reused: 1, failed: 1 },
    whatsapp: { sent: 1 },
    failures: [{ step: "report", code: "report_payload_unreadable", tenantId: spoilt!.tenantId }],
  });
});
