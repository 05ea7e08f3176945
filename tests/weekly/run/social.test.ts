import { describe, expect, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { CANARIES } from "../../support/canaries.ts";
import { seedOwner, WEEK, writeAnalysis } from "../../support/seed.ts";
import { sharedWeekly } from "../support/shared-weekly.ts";
import { storedReport } from "../support/stored-report.ts";

const shared = sharedWeekly();

describe("the analysis calls of runWeekly()", () => {
  test("exactly the active Instagram and LinkedIn connections of this owner, one call each, with exact ids and instants", async () => {
    const weekly = shared();
    const { db, application } = weekly;
    const owner = await seedOwner(db.sql, {
      networks: ["instagram", "instagram", "linkedin", "tiktok", "blog", "Instagram"],
    });
    const colleague = await seedOwner(db.sql, { tenantId: owner.tenantId, role: "admin" });
    const stranger = await seedOwner(db.sql, { wallet: "closed" });
    const connect = (tenantId: string, userId: string, status: string) => db.sql`
      insert into social_connections (id, tenant_id, user_id, network, status)
      values (${randomUUID()}, ${tenantId}, ${userId}, 'instagram', ${status})`;
    for (const status of ["inactive", "expired", "Active", ""])
      await connect(owner.tenantId, owner.userId, status);
    // The same user under another tenant, another user under this one.
    await connect(stranger.tenantId, owner.userId, "active");
    await connect(owner.tenantId, colleague.userId, "active");

    const summary = await weekly.run();

    const called = application.routes.analysis.calls;
    expect(called.map(({ body }) => body)).toEqual(
      expect.arrayContaining(
        owner.connections.slice(0, 3).map(({ id }) => ({
          tenantId: owner.tenantId,
          userId: owner.userId,
          connectionId: id,
          windowStart: WEEK.start,
          windowEnd: WEEK.end,
        })),
      ),
    );
    expect(called).toHaveLength(3);
    expect(summary).toMatchObject({ status: "success", social: { calls: 3, failed: 0 } });
    for (const { method, path, headers } of called) {
      expect([method, path]).toEqual(["POST", "/api/v1/social/analytics/weekly"]);
      expect(headers.authorization).toBe(`Bearer ${CANARIES.TRIGGER_SECRET}`);
    }
  });

  test("the report is claimed, with a token and a lease of twenty minutes, before the first of them", async () => {
    const weekly = shared();
    await seedOwner(weekly.db.sql);
    const seen: unknown[] = [];
    const analyse = weekly.onAnalyze;
    weekly.onAnalyze = async (body) => {
      const [row] = await weekly.db.sql`
        select status, claim_token is not null as token, lease_expires_at - weekly_performance_now() as lease
        from weekly_performance_reports`;
      seen.push({ ...row });
      await analyse(body);
    };
    await weekly.run();
    expect(seen).toEqual(Array(2).fill({ status: "running", token: true, lease: "00:20:00" }));
  });

  test("a call that fails although an analysis of this week is there: it is neither shown nor part of the evidence", async () => {
    const weekly = shared();
    const { sql } = weekly.db;
    const owner = await seedOwner(sql);
    const [instagram] = owner.connections;
    const week = { windowStart: WEEK.start, windowEnd: WEEK.end };
    await writeAnalysis(sql, { ...owner, connectionId: instagram!.id, ...week }, { metrics: { reach: 1 } });
    weekly.application.routes.analysis.scriptByBody = ({ body }) =>
      (body as { connectionId: string }).connectionId === instagram!.id ? { status: 500 } : undefined;
    await weekly.run();
    const { payload, evidence } = await storedReport(sql, owner);
    expect(payload.channels.instagram).toMatchObject({ status: "unavailable", reason: "APP_HTTP_500" });
    expect(payload.channels.linkedin).toMatchObject({ status: "available" });
    expect(evidence).not.toContain(instagram!.id);
  });

  test("connections that the lease leaves no time for are named, and are no failed calls", async () => {
    const weekly = shared();
    await seedOwner(weekly.db.sql, { networks: ["instagram", "linkedin", "linkedin"] });
    let minutes = 0;
    const analyse = weekly.onAnalyze;
    weekly.onAnalyze = async (body) => {
      // A lease of twenty minutes has time for the second call, and none for the third.
      minutes += minutes === 0 ? 17 : 2;
      await analyse(body);
    };
    const summary = await weekly.run({}, { monotonicMs: () => performance.now() + minutes * 60_000 });
    expect(summary).toMatchObject({
      exitCode: 0,
      social: { calls: 2, failed: 0 },
      failures: [{ step: "social", code: "collection_lease_exhausted" }],
    });
  });
});
