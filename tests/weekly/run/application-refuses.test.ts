import { describe, expect, test } from "bun:test";
import { seedOwner } from "../../support/seed.ts";
import { deliveryStates, isHeartbeatKept, plantHeartbeat, reportsByOwner } from "../support/ledger.ts";
import { sharedWeekly } from "../support/shared-weekly.ts";
import type { WeeklyFixture } from "../support/weekly-fixture.ts";

const EDITORIALS = { enabled: true, maxLlmCalls: 30, secretPresent: true };
const shared = sharedWeekly();

async function monday(owners: number): Promise<WeeklyFixture> {
  const weekly = shared();
  for (let i = 0; i < owners; i += 1) await seedOwner(weekly.db.sql);
  plantHeartbeat(weekly);
  return weekly;
}

describe.each([401, 409])("runWeekly() when the application refuses the worker itself with %p", (status) => {
  const code = `APP_HTTP_${status}`;
  const refusal = () => ({ status, json: { error: "refused" } });

  test("at the first call: one call, one failed report, nothing sent, no drain, and the next run resumes", async () => {
    const weekly = await monday(5);
    weekly.application.routes.analysis.script = refusal;
    const summary = await weekly.run({ concurrency: 1, editorials: EDITORIALS });
    expect(summary).toMatchObject({
      status: "failed",
      exitCode: 1,
      heartbeat: "kept",
      error: { code },
      reports: { scopes: 5, completed: 0, failed: 1 },
      social: { calls: 1, failed: 1 },
      editorials: { status: "skipped", code, calls: 0 },
    });
    expect(weekly.application.ledger).toHaveLength(1);
    expect([...(await reportsByOwner(weekly)).values()]).toMatchObject([
      { status: "failed", errorCode: code, stored: false },
    ]);
    expect([weekly.gateway.ledger, weekly.email.ledger]).toEqual([[], []]);
    expect(isHeartbeatKept(weekly)).toBe(true);

    weekly.application.routes.analysis.script = null;
    expect(await weekly.run()).toMatchObject({ status: "success", reports: { completed: 5 } });
    const attempts = await weekly.db.sql`select attempts from weekly_performance_reports order by 1`;
    expect(attempts.map((row) => row.attempts)).toEqual([1, 1, 1, 1, 2]);
  });

  test("with eight on their way: no more calls than those, nothing of any of them is stored or sent", async () => {
    const weekly = await monday(20);
    const { calls } = weekly.application.routes.analysis;
    // Seven calls are held by the application when the eighth is refused.
    weekly.application.routes.analysis.script = (entry) => (entry === calls[7] ? refusal() : undefined);
    const write = weekly.onAnalyze;
    const refused = Promise.withResolvers<void>();
    weekly.onAnalyze = async (body) => {
      await refused.promise;
      await write(body);
    };
    const summary = await weekly.run(
      { concurrency: 8 },
      {
        wrapStore: (store) => ({
          async failReport(report, errorCode) {
            refused.resolve();
            await store.failReport(report, errorCode);
          },
        }),
      },
    );
    expect(summary).toMatchObject({ exitCode: 1, error: { code }, reports: { completed: 0, failed: 8 } });
    expect(calls).toHaveLength(8);
    const reports = [...(await reportsByOwner(weekly)).values()];
    expect(reports).toHaveLength(8);
    expect(new Set(reports.map((report) => `${report.status} ${report.errorCode} ${report.stored}`))).toEqual(
      new Set([`failed ${code} false`]),
    );
    expect(await deliveryStates(weekly)).toEqual([]);
  });

  test("while another claim is being made: that report's first call is not made", async () => {
    const weekly = await monday(2);
    weekly.application.routes.analysis.script = refusal;
    let claims = 0;
    const stopped = Promise.withResolvers<void>();
    await weekly.run(
      { concurrency: 2 },
      {
        wrapStore: (store) => ({
          async claimReport(...args) {
            const turn = claims++;
            const claim = await store.claimReport(...args);
            if (turn > 0) await stopped.promise;
            return claim;
          },
          async failReport(report, errorCode) {
            stopped.resolve();
            await store.failReport(report, errorCode);
          },
        }),
      },
    );
    expect(weekly.application.ledger).toHaveLength(1);
    expect([...(await reportsByOwner(weekly)).values()].map(({ errorCode }) => errorCode)).toEqual([
      code,
      code,
    ]);
  });

  test("while another report's evidence is being read: that report is not stored", async () => {
    const weekly = await monday(1);
    const idle = await seedOwner(weekly.db.sql, { networks: [] });
    weekly.application.routes.analysis.script = refusal;
    const [reading, refused] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const summary = await weekly.run(
      { concurrency: 2 },
      {
        wrapStore: (store) => ({
          async claimReport(scope, ...rest) {
            const claim = await store.claimReport(scope, ...rest);
            if (scope.userId !== idle.userId) await reading.promise;
            return claim;
          },
          async readEvidence(...args) {
            const rows = await store.readEvidence(...args);
            reading.resolve();
            await refused.promise;
            return rows;
          },
          async failReport(report, errorCode) {
            refused.resolve();
            await store.failReport(report, errorCode);
          },
        }),
      },
    );
    expect(summary).toMatchObject({ exitCode: 1, error: { code }, reports: { completed: 0, failed: 2 } });
    expect((await reportsByOwner(weekly)).get(idle.userId)).toMatchObject({ errorCode: code, stored: false });
  });

  test("at the second connection: the first one's analysis is not made a report of", async () => {
    const weekly = await monday(1);
    const { analysis } = weekly.application.routes;
    analysis.script = (entry) => (entry === analysis.calls[1] ? refusal() : undefined);
    expect(await weekly.run()).toMatchObject({ reports: { failed: 1 }, social: { calls: 2, failed: 1 } });
    expect([...(await reportsByOwner(weekly)).values()]).toMatchObject([{ errorCode: code, stored: false }]);
  });

  test("a report that was complete before is not sent any more, and the next run sends it", async () => {
    const weekly = await monday(2);
    const { analysis } = weekly.application.routes;
    const persisted = Promise.withResolvers<void>();
    const stopped = Promise.withResolvers<void>();
    let claims = 0;
    analysis.script = (entry) => (entry === analysis.calls[2] ? refusal() : undefined);
    const summary = await weekly.run(
      { concurrency: 2 },
      {
        wrapStore: (store) => ({
          async claimReport(...args) {
            if (claims++ > 0) await persisted.promise;
            return await store.claimReport(...args);
          },
          async persistReport(...args) {
            const stored = await store.persistReport(...args);
            persisted.resolve();
            await stopped.promise;
            return stored;
          },
          async failReport(report, errorCode) {
            stopped.resolve();
            await store.failReport(report, errorCode);
          },
        }),
      },
    );
    expect(summary).toMatchObject({
      reports: { completed: 1, failed: 1 },
      whatsapp: { skipped: 1 },
      email: { skipped: 1 },
    });
    expect([weekly.gateway.ledger, weekly.email.ledger]).toEqual([[], []]);
    analysis.script = null;
    expect(await weekly.run()).toMatchObject({
      status: "success",
      whatsapp: { sent: 2 },
      email: { sent: 2 },
    });
  });
});
