/** 401 and 409: meant for the worker itself, which breaks the run off, or for one connection, which blocks no other. */
import { describe, expect, test } from "bun:test";
import type { Scripted } from "../../standins/standin.ts";
import { type SeededOwner, seedOwner, setClock } from "../../support/seed.ts";
import { deliveryStates, isHeartbeatKept, plantHeartbeat, reportsByOwner } from "../support/ledger.ts";
import { connectionOf, lackingNetworks, reportStates, seedOwners } from "../support/outage.ts";
import { sharedWeekly } from "../support/shared-weekly.ts";
import { virtualTime } from "../support/virtual-time.ts";
import type { WeeklyFixture } from "../support/weekly-fixture.ts";

const EDITORIALS = { enabled: true, maxLlmCalls: 30, secretPresent: true };
const PATIENT = { patienceMinutes: 15 };
const shared = sharedWeekly();

async function monday(count: number): Promise<{ weekly: WeeklyFixture; owners: SeededOwner[] }> {
  const weekly = shared();
  plantHeartbeat(weekly);
  const owners = await seedOwners(weekly, count);
  owners.sort((one, other) => (one.tenantId < other.tenantId ? -1 : 1));
  return { weekly, owners };
}

/** Answers for some connections, by their id. */
function answering(weekly: WeeklyFixture, answers: Record<string, Scripted>): void {
  weekly.application.routes.analysis.scriptByBody = (entry) => answers[connectionOf(entry)];
}

describe.each([401, 409])("runWeekly() when the application answers %p", (status) => {
  const code = `APP_HTTP_${status}`;
  const refusal = { status, json: { error: "refused" } };

  test("to everybody: three owners are asked, nothing is sent, no drain, and the next run resumes", async () => {
    const { weekly } = await monday(5);
    weekly.application.routes.analysis.script = () => refusal;
    const time = virtualTime();
    const summary = await weekly.run({ ...PATIENT, concurrency: 1, editorials: EDITORIALS }, time);
    expect(summary).toMatchObject({
      status: "failed",
      exitCode: 1,
      heartbeat: "kept",
      error: { code },
      reports: { scopes: 5, completed: 0, failed: 3 },
      social: { calls: 3, failed: 0 },
      editorials: { status: "skipped", code, calls: 0 },
    });
    expect(summary.failures.filter(({ step }) => step === "report").map((failure) => failure.code)).toEqual([
      code,
      code,
      code,
    ]);
    expect(time.waitsMs).toEqual([]);
    expect(weekly.application.ledger).toHaveLength(3);
    expect(await reportStates(weekly)).toEqual({ [`failed ${code}`]: 3 });
    expect([weekly.gateway.ledger, weekly.email.ledger]).toEqual([[], []]);
    expect(isHeartbeatKept(weekly)).toBe(true);

    weekly.application.routes.analysis.script = null;
    expect(await weekly.run()).toMatchObject({ status: "success", reports: { completed: 5 } });
    const attempts = await weekly.db.sql`select attempts from weekly_performance_reports order by 1`;
    expect(attempts.map((row) => row.attempts)).toEqual([1, 1, 2, 2, 2]);
  });

  test("to eight who are on their way: no further call, nothing of any of them is stored or sent", async () => {
    const { weekly } = await monday(20);
    weekly.application.routes.analysis.script = () => refusal;
    const summary = await weekly.run({ ...PATIENT, concurrency: 8 }, virtualTime());
    expect(summary).toMatchObject({ exitCode: 1, error: { code }, reports: { completed: 0, failed: 8 } });
    expect(weekly.application.ledger).toHaveLength(8);
    expect(await reportStates(weekly)).toEqual({ [`failed ${code}`]: 8 });
    expect(await deliveryStates(weekly)).toEqual([]);
  });

  test("to the first call alone: that connection has failed, everybody gets a report", async () => {
    const { weekly, owners } = await monday(12);
    answering(weekly, { [owners[0]!.connections[0]!.id]: refusal });
    const summary = await weekly.run({ ...PATIENT, concurrency: 1 }, virtualTime());
    expect(summary).toMatchObject({
      status: "success",
      exitCode: 0,
      heartbeat: "written",
      error: null,
      reports: { completed: 12, failed: 0 },
      // What it answered is remembered: no connection is asked twice.
      social: { calls: 24, failed: 1 },
      failures: [{ step: "social", code, tenantId: owners[0]!.tenantId }],
    });
    expect(await lackingNetworks(weekly)).toEqual({ completed: 12, lacking: [code] });
  });

  test("to the first two owners: the third one's good answer is enough", async () => {
    const { weekly, owners } = await monday(4);
    answering(weekly, {
      [owners[0]!.connections[0]!.id]: refusal,
      [owners[1]!.connections[0]!.id]: refusal,
    });
    const summary = await weekly.run({ ...PATIENT, concurrency: 1 }, virtualTime());
    expect(summary).toMatchObject({
      status: "success",
      reports: { completed: 4 },
      social: { calls: 8, failed: 2 },
    });
  });

  test("to one of two, the other one fails otherwise: no word about the worker, the run goes on", async () => {
    const { weekly, owners } = await monday(2);
    answering(weekly, {
      [owners[0]!.connections[0]!.id]: refusal,
      [owners[1]!.connections[0]!.id]: { status: 404 },
      [owners[1]!.connections[1]!.id]: { status: 404 },
    });
    const summary = await weekly.run({ ...PATIENT, concurrency: 1 }, virtualTime());
    expect(summary).toMatchObject({
      error: null,
      reports: { completed: 2 },
      social: { calls: 4, failed: 3 },
    });
    expect(await lackingNetworks(weekly)).toEqual({
      completed: 2,
      lacking: ["APP_HTTP_404", "APP_HTTP_404", code].sort(),
    });
  });

  test("to the only owner with a connection: nobody else can be asked, the run breaks off", async () => {
    const { weekly, owners } = await monday(1);
    const idle = await seedOwner(weekly.db.sql, { networks: [] });
    answering(weekly, { [owners[0]!.connections[0]!.id]: refusal });
    const summary = await weekly.run({ ...PATIENT, concurrency: 1 }, virtualTime());
    expect(summary).toMatchObject({
      exitCode: 1,
      error: { code },
      reports: { failed: 1 },
      social: { calls: 1 },
    });
    // An owner without connections needs no application.
    expect((await reportsByOwner(weekly)).get(idle.userId)).toMatchObject({ status: "completed" });
  });

  test("to the last one who is left, all others are done: one of them is asked, and it is one connection's failure", async () => {
    const { weekly, owners } = await monday(3);
    const { tenantId, connections } = owners[2]!;
    await weekly.db.sql`update credit_wallets set status = 'suspended' where tenant_id = ${tenantId}`;
    expect(await weekly.run()).toMatchObject({ reports: { completed: 2 } });
    const before = await weekly.db.sql`select * from weekly_performance_reports order by id`;
    await weekly.db.sql`update credit_wallets set status = 'active' where tenant_id = ${tenantId}`;
    answering(weekly, { [connections[0]!.id]: refusal });
    const summary = await weekly.run({ ...PATIENT, concurrency: 1 }, virtualTime());
    expect(summary).toMatchObject({
      status: "success",
      reports: { completed: 1, reused: 2 },
      social: { calls: 3, failed: 1 },
    });
    const after = await weekly.db.sql`
      select * from weekly_performance_reports where tenant_id <> ${tenantId} order by id`;
    expect([...after]).toEqual([...before]);
  });

  test("to everybody, when two are done: both are asked, the run breaks off", async () => {
    const { weekly, owners } = await monday(3);
    const { tenantId } = owners[0]!;
    await weekly.db.sql`update credit_wallets set status = 'suspended' where tenant_id = ${tenantId}`;
    await weekly.run();
    await weekly.db.sql`update credit_wallets set status = 'active' where tenant_id = ${tenantId}`;
    weekly.application.routes.analysis.script = () => refusal;
    const summary = await weekly.run({ ...PATIENT, concurrency: 1 }, virtualTime());
    expect(summary).toMatchObject({
      exitCode: 1,
      error: { code },
      reports: { completed: 0, reused: 2, failed: 1 },
      social: { calls: 3 },
    });
  });

  test("to the second connection, the first one was good: it is that connection's failure", async () => {
    const { weekly, owners } = await monday(1);
    answering(weekly, { [owners[0]!.connections[1]!.id]: refusal });
    const summary = await weekly.run(PATIENT, virtualTime());
    expect(summary).toMatchObject({
      status: "success",
      reports: { completed: 1 },
      social: { calls: 2, failed: 1 },
    });
    expect(await lackingNetworks(weekly)).toEqual({ completed: 1, lacking: [code] });
  });

  test("to the second connection, the first one has no analysis: nothing was good, the run breaks off", async () => {
    const { weekly, owners } = await monday(1);
    answering(weekly, {
      [owners[0]!.connections[0]!.id]: { status: 204 },
      [owners[0]!.connections[1]!.id]: refusal,
    });
    const summary = await weekly.run(PATIENT, virtualTime());
    expect(summary).toMatchObject({
      exitCode: 1,
      error: { code },
      reports: { failed: 1 },
      social: { calls: 2 },
    });
  });

  test("a report that was complete before is not sent any more, and the next run sends it", async () => {
    const { weekly, owners } = await monday(4);
    const idle = await seedOwner(weekly.db.sql, {
      networks: [],
      tenantId: "00000000-0000-4000-8000-000000000001",
    });
    const { analysis } = weekly.application.routes;
    const refused = Promise.withResolvers<void>();
    analysis.script = () => refusal;
    const summary = await weekly.run(
      { ...PATIENT, concurrency: 2 },
      {
        ...virtualTime(),
        wrapStore: (store) => ({
          async claimWhatsapp(...args) {
            await refused.promise;
            return await store.claimWhatsapp(...args);
          },
          async failReport(report, errorCode) {
            await store.failReport(report, errorCode);
            if ((await reportStates(weekly))[`failed ${code}`] === 3) refused.resolve();
          },
        }),
      },
    );
    expect(summary).toMatchObject({ exitCode: 1, error: { code }, reports: { completed: 1, failed: 3 } });
    expect((await reportsByOwner(weekly)).get(idle.userId)).toMatchObject({ status: "completed" });
    expect(weekly.email.ledger).toEqual([]);
    analysis.script = null;
    const next = await weekly.run();
    expect(next).toMatchObject({ status: "success", reports: { completed: owners.length, reused: 1 } });
    expect([weekly.gateway.accepted.length, weekly.email.accepted.length]).toEqual([5, 5]);
  });
});

describe("runWeekly() when the application says after a good call that it is not Monday", () => {
  test("the database says so, too: the run ends, nothing more is called", async () => {
    const { weekly, owners } = await monday(3);
    answering(weekly, { [owners[2]!.connections[0]!.id]: { status: 409 } });
    const summary = await weekly.run(
      { ...PATIENT, concurrency: 1 },
      {
        ...virtualTime(),
        wrapStore: (store) => ({
          async claimReport(scope, ...rest) {
            const claim = await store.claimReport(scope, ...rest);
            if (scope.userId === owners[2]!.userId) await setClock(weekly.db.sql, "2026-11-24T03:00:00Z");
            return claim;
          },
        }),
      },
    );
    expect(summary).toMatchObject({
      exitCode: 1,
      error: { code: "MONDAY_ENDED" },
      reports: { completed: 2 },
    });
    expect(weekly.application.routes.analysis.calls).toHaveLength(5);
  });
});
