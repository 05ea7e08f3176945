/** Fewer owners than it takes to trip the breaker: the run waits two minutes at most, then its second pass decides. */
import { describe, expect, test } from "bun:test";
import { seedOwner } from "../../support/seed.ts";
import { isHeartbeatKept, plantHeartbeat, until } from "../support/ledger.ts";
import { AWAY, connectionOf, lackingNetworks, outage, reportStates, seedOwners } from "../support/outage.ts";
import { sharedWeekly } from "../support/shared-weekly.ts";
import { virtualTime } from "../support/virtual-time.ts";
import { recordingLog } from "../support/weekly-fixture.ts";

const shared = sharedWeekly();
const PATIENT = { patienceMinutes: 15 };

describe("runWeekly() with nine owners", () => {
  test("60 seconds of outage: it waits, and every report has every network", async () => {
    const weekly = shared();
    await seedOwners(weekly, 9);
    const away = outage(weekly, { fromCall: 1, seconds: 60 });
    const summary = await weekly.run(PATIENT, away.time);
    expect(summary).toMatchObject({
      status: "success",
      exitCode: 0,
      heartbeat: "written",
      reports: { completed: 9, failed: 0 },
      social: { failed: 0 },
      failures: [],
    });
    expect(await lackingNetworks(weekly)).toEqual({ completed: 9, lacking: [] });
    expect(away.time.waitsMs).toEqual([30_000, 30_000]);
    // Each owner is asked once, and one probe fails.
    expect(away.callsInVain).toBe(18 + 2);
  });

  test("an outage that does not end: two minutes of waiting, then the reports are made without", async () => {
    const weekly = shared();
    await seedOwners(weekly, 9);
    plantHeartbeat(weekly);
    const away = outage(weekly, { fromCall: 1, seconds: 3_600 });
    const log = recordingLog();
    const summary = await weekly.run(PATIENT, { ...away.time, log });
    expect(summary).toMatchObject({
      status: "failed",
      exitCode: 1,
      error: null,
      reports: { completed: 9, failed: 0 },
      social: { calls: 18 + 4 * 2 + 18, failed: 18 },
      whatsapp: { sent: 9 },
      email: { sent: 9 },
    });
    expect(summary.failures[0]).toEqual({ step: "social", code: "SOCIAL_ALL_CALLS_FAILED" });
    expect(isHeartbeatKept(weekly)).toBe(true);
    expect(await lackingNetworks(weekly)).toEqual({ completed: 9, lacking: Array(18).fill("APP_HTTP_503") });
    expect(away.time.waitsMs).toEqual([30_000, 30_000, 30_000, 30_000]);
    expect(log.lines.map(({ msg }) => msg)).toEqual(
      expect.arrayContaining(["The application still does not answer: the second pass decides"]),
    );
    // Each probe asks for another owner.
    const probes = weekly.application.routes.analysis.calls.slice(18, 26);
    expect(new Set(probes.map(({ body }) => (body as { userId: string }).userId)).size).toBe(4);
  });

  test.each([
    [0, []],
    [1, [30_000, 30_000]],
  ])("a patience of %i minutes is the most that it waits", async (patienceMinutes, waitsMs) => {
    const weekly = shared();
    await seedOwners(weekly, 9);
    const away = outage(weekly, { fromCall: 1, seconds: 3_600 });
    const summary = await weekly.run({ patienceMinutes }, away.time);
    expect(summary).toMatchObject({ error: null, reports: { completed: 9 }, social: { failed: 18 } });
    expect(away.time.waitsMs).toEqual(waitsMs);
  });

  test("an outage of the last calls alone: the owners before it are done, the last ones wait", async () => {
    const weekly = shared();
    await seedOwners(weekly, 9);
    const away = outage(weekly, { fromCall: 15, seconds: 40 });
    const summary = await weekly.run({ ...PATIENT, concurrency: 1 }, away.time);
    expect(summary).toMatchObject({ status: "success", reports: { completed: 9 }, social: { failed: 0 } });
    expect(away.time.waitsMs).toEqual([30_000, 30_000]);
  });

  test("an outage from the last owner's second call on: that owner waits as well", async () => {
    const weekly = shared();
    await seedOwners(weekly, 9);
    const away = outage(weekly, { fromCall: 18, seconds: 40 });
    const summary = await weekly.run({ ...PATIENT, concurrency: 1 }, away.time);
    expect(await lackingNetworks(weekly)).toEqual({ completed: 9, lacking: [] });
    expect(summary).toMatchObject({ status: "success", reports: { completed: 9 }, social: { failed: 0 } });
    expect(away.time.waitsMs).toEqual([30_000, 30_000]);
  });

  test("an outage that ends while a probe asks: the probe's failed call is made once more", async () => {
    const weekly = shared();
    await seedOwners(weekly, 9);
    const { analysis } = weekly.application.routes;
    // Each owner is asked once; then comes the first call of the first probe.
    analysis.script = () => (analysis.calls.length <= 19 ? AWAY : undefined);
    const time = virtualTime();
    const summary = await weekly.run({ ...PATIENT, concurrency: 1 }, time);
    expect(await lackingNetworks(weekly)).toEqual({ completed: 9, lacking: [] });
    expect(summary).toMatchObject({ status: "success", social: { calls: 18 + 2 + 1 + 16, failed: 0 } });
    expect(time.waitsMs).toEqual([30_000]);
  });

  test("an outage in which an earlier call is still answered well: the run waits all the same", async () => {
    const weekly = shared();
    for (let i = 0; i < 2; i += 1) await seedOwner(weekly.db.sql, { networks: ["instagram"] });
    const away = outage(weekly, { fromCall: 2, seconds: 40 });
    const usual = weekly.onAnalyze;
    let calls = 0;
    weekly.onAnalyze = async (body) => {
      calls += 1;
      // The first call is answered once the second one has failed and its owner has been put back.
      if (calls === 1) await until(async () => "failed social_retry" in (await reportStates(weekly)));
      await usual(body);
    };
    const summary = await weekly.run({ ...PATIENT, concurrency: 2 }, away.time);
    expect(summary).toMatchObject({ status: "success", reports: { completed: 2 }, social: { failed: 0 } });
    expect(away.time.waitsMs).toEqual([30_000, 30_000]);
  });

  test("another answer since the last good one: nothing to wait for, the second pass comes at once", async () => {
    const weekly = shared();
    const [, , expired] = await seedOwners(weekly, 3);
    const time = virtualTime();
    const denied = expired!.connections[0]!.id;
    const { analysis } = weekly.application.routes;
    analysis.scriptByBody = (entry) => ({ status: connectionOf(entry) === denied ? 403 : 503 });
    const summary = await weekly.run(PATIENT, time);
    expect(summary).toMatchObject({
      error: null,
      reports: { completed: 3 },
      social: { calls: 12, failed: 6 },
    });
    expect(time.waitsMs).toEqual([]);
  });

  test("one tenant alone has the same second chance", async () => {
    const weekly = shared();
    const [owner] = await seedOwners(weekly, 3);
    const away = outage(weekly, { fromCall: 1, seconds: 60 });
    const summary = await weekly.run({ ...PATIENT, tenantId: owner!.tenantId }, away.time);
    expect(summary).toMatchObject({ status: "success", reports: { scopes: 1, completed: 1 } });
    expect(await lackingNetworks(weekly)).toEqual({ completed: 1, lacking: [] });
  });

  test("one network that stays away: its owners are asked again, and nobody waits for it", async () => {
    const weekly = shared();
    const owners = await seedOwners(weekly, 30);
    const linkedin = new Set(owners.map(({ connections }) => connections[1]!.id));
    const time = virtualTime();
    weekly.application.routes.analysis.scriptByBody = (entry) =>
      linkedin.has(connectionOf(entry)) ? { status: 502 } : undefined;
    const summary = await weekly.run(PATIENT, time);
    expect(summary).toMatchObject({
      reports: { completed: 30 },
      social: { failed: 30 },
      error: null,
    });
    // Each owner twice, the failing network once more, and at most two calls that show that the application works.
    expect(summary.social.calls).toBeGreaterThanOrEqual(120 + 30);
    expect(summary.social.calls).toBeLessThanOrEqual(120 + 30 + 2 * 30 + 8);
    expect(time.waitsMs).toEqual([]);
    expect(await lackingNetworks(weekly)).toEqual({ completed: 30, lacking: Array(30).fill("APP_HTTP_502") });
  });
});

describe("runWeekly() while it waits for the application", () => {
  test("holds nothing: every row is failed with social_retry", async () => {
    const weekly = shared();
    await seedOwners(weekly, 9);
    const away = outage(weekly, { fromCall: 1, seconds: 60 });
    const seen: unknown[] = [];
    away.time.onWait = async () => void seen.push(await reportStates(weekly));
    await weekly.run(PATIENT, away.time);
    expect(seen).toEqual([{ "failed social_retry": 9 }, { "failed social_retry": 9 }]);
  });

  test("the clock of the database is not asked before every call", async () => {
    const weekly = shared();
    await seedOwners(weekly, 30);
    let reads = 0;
    const summary = await weekly.run(PATIENT, {
      ...virtualTime(),
      wrapStore: (store) => ({
        async now() {
          reads += 1;
          return await store.now();
        },
      }),
    });
    expect(summary).toMatchObject({ status: "success", social: { calls: 60 } });
    // At the start, once for all second connections that come within five seconds (eight may ask at once), at the end.
    expect(reads).toBeLessThanOrEqual(1 + 8 + 1);
  });

  test("a signal ends it at once, and the next run makes the reports", async () => {
    const weekly = shared();
    await seedOwners(weekly, 9);
    const away = outage(weekly, { fromCall: 1, seconds: 3_600 });
    const interrupt = new AbortController();
    away.time.onWait = () => interrupt.abort();
    const summary = await weekly.run(PATIENT, { ...away.time, interrupt: interrupt.signal });
    expect(summary).toMatchObject({
      exitCode: 1,
      error: { code: "RUN_INTERRUPTED" },
      reports: { completed: 0, failed: 9 },
      heartbeat: "kept",
    });
    expect(summary.failures.map(({ code }) => code)).toEqual(Array(9).fill("social_retry"));
    expect(await reportStates(weekly)).toEqual({ "failed social_retry": 9 });
    weekly.application.routes.analysis.script = null;
    expect(await weekly.run()).toMatchObject({ status: "success", reports: { completed: 9 } });
  });

  test("midnight ends it: nothing is claimed or sent any more", async () => {
    const weekly = shared();
    await seedOwners(weekly, 9);
    const away = outage(weekly, { fromCall: 1, seconds: 45 });
    away.time.onWait = async () => {
      await weekly.db.sql.unsafe(`
        create or replace function public.weekly_performance_now() returns timestamptz
        language sql stable set search_path = '' as $$ select timestamptz '2026-11-24T03:00:00Z' $$`);
    };
    const summary = await weekly.run(PATIENT, away.time);
    expect(summary).toMatchObject({
      exitCode: 1,
      error: { code: "MONDAY_ENDED" },
      reports: { completed: 0, failed: 9 },
    });
    expect([weekly.gateway.ledger, weekly.email.ledger]).toEqual([[], []]);
    expect(weekly.application.routes.analysis.calls).toHaveLength(18);
  });

  test("does not wait past midnight", async () => {
    const weekly = shared();
    await seedOwners(weekly, 9);
    await weekly.db.sql.unsafe(`
      create or replace function public.weekly_performance_now() returns timestamptz
      language sql stable set search_path = '' as $$ select timestamptz '2026-11-24T02:59:20Z' $$`);
    const away = outage(weekly, { fromCall: 1, seconds: 3_600 });
    await weekly.run(PATIENT, away.time);
    expect(away.time.waitsMs).toEqual([30_000, 10_000]);
  });

  test("owners who are archived or deleted meanwhile are left out, and spoil nothing", async () => {
    const weekly = shared();
    const [archived, deleted] = await seedOwners(weekly, 9);
    const away = outage(weekly, { fromCall: 1, seconds: 60 });
    let waits = 0;
    away.time.onWait = async () => {
      waits += 1;
      if (waits > 1) return;
      const { sql } = weekly.db;
      await sql`update tenants set archived_at = now() where id = ${archived!.tenantId}`;
      for (const table of ["social_connections", "resend_email_sends"])
        await sql`delete from ${sql(table)} where user_id = ${deleted!.userId}`;
      await sql`delete from users where id = ${deleted!.userId}`;
    };
    const summary = await weekly.run(PATIENT, away.time);
    expect(summary).toMatchObject({
      status: "success",
      exitCode: 0,
      reports: { completed: 7, failed: 0, ineligible: 2 },
    });
    expect(await lackingNetworks(weekly)).toEqual({ completed: 7, lacking: [] });
  });

  test("another process may make the reports: they are reused, and nobody gets two messages", async () => {
    const weekly = shared();
    await seedOwners(weekly, 9);
    const away = outage(weekly, { fromCall: 1, seconds: 3_600 });
    let theirs: Promise<unknown> = Promise.resolve();
    away.time.onWait = async () => {
      if (away.time.waitsMs.length > 1) return;
      weekly.application.routes.analysis.script = null;
      theirs = weekly.run();
      await theirs;
    };
    const ours = await weekly.run(PATIENT, away.time);
    expect(await theirs).toMatchObject({ status: "success", reports: { completed: 9 } });
    expect(ours).toMatchObject({ status: "success", reports: { completed: 0, reused: 9 } });
    expect([weekly.gateway.accepted.length, weekly.email.accepted.length]).toEqual([9, 9]);
  });

  test("two hosts at once, one with patience and one without: the patient one finishes what both had begun", async () => {
    const weekly = shared();
    await seedOwners(weekly, 60);
    const away = outage(weekly, { fromCall: 1, seconds: 120 });
    const hasty = weekly.run({ patienceMinutes: 0 });
    away.time.onWait = () => until(async () => (await hasty) !== null);
    const patient = await weekly.run(PATIENT, away.time);
    expect(await hasty).toMatchObject({ exitCode: 1, error: { code: "APP_NOT_ANSWERING" } });
    expect(patient).toMatchObject({ status: "success", exitCode: 0, error: null });
    expect(await lackingNetworks(weekly)).toEqual({ completed: 60, lacking: [] });
    expect([weekly.gateway.accepted.length, weekly.email.accepted.length]).toEqual([60, 60]);
  });
});
