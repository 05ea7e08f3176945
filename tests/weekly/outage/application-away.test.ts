/** An application that goes away at any moment of a run, for any while, with many owners and with few. */
import { describe, expect, test } from "bun:test";
import { setImmediate } from "node:timers/promises";
import type { WeeklyOptions } from "../../../lib/weekly/context/dependencies.ts";
import { type Random, randomFrom } from "../../chaos/random.ts";
import type { Scripted } from "../../standins/standin.ts";
import { seedOwners, setClock } from "../../support/seed.ts";
import { eraseOwner } from "../support/erase-owner.ts";
import { isHeartbeatKept, plantHeartbeat } from "../support/ledger.ts";
import { AWAY, lackingNetworks, outage, reportStates, seedManyOwners } from "../support/outage.ts";
import { sharedWeekly } from "../support/shared-weekly.ts";
import { virtualTime } from "../support/virtual-time.ts";
import { recordingLog, type WeeklyFixture } from "../support/weekly-fixture.ts";

const shared = sharedWeekly();
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const PATIENT = { patienceMinutes: 15 };
/** A run asks again every thirty seconds. */
const PROBE_SECONDS = 30;

/** Each owner has one report with both networks, one message and one e-mail. */
async function expectAllReported(weekly: WeeklyFixture, owners: number): Promise<void> {
  expect(await lackingNetworks(weekly)).toEqual({ completed: owners, lacking: [] });
  const numbers = weekly.gateway.accepted.map(({ number }) => number);
  const addresses = weekly.email.accepted.map(({ to }) => String(to));
  expect([numbers.length, new Set(numbers).size]).toEqual([owners, owners]);
  expect([addresses.length, new Set(addresses).size]).toEqual([owners, owners]);
}

type ShortOutage = { owners: number; concurrency: number; fromCall: number; seconds: number };

/** Many owners trip the breaker; with fewer than ten the run waits two minutes at most. */
const SHORTER_THAN_PATIENCE: [string, ShortOutage][] = [
  ["many owners, three seconds", { owners: 40, concurrency: 4, fromCall: 21, seconds: 3 }],
  ["many owners, half a minute", { owners: 40, concurrency: 4, fromCall: 21, seconds: 30 }],
  [
    "many owners, a second less than the patience",
    { owners: 40, concurrency: 4, fromCall: 21, seconds: 899 },
  ],
  ["many owners, one at a time", { owners: 40, concurrency: 1, fromCall: 41, seconds: 100 }],
  ["nine owners, from the first call on", { owners: 9, concurrency: 8, fromCall: 1, seconds: 60 }],
  ["nine owners, from the last calls on", { owners: 9, concurrency: 1, fromCall: 15, seconds: 40 }],
  [
    "nine owners, from the last owner's second call on",
    { owners: 9, concurrency: 1, fromCall: 18, seconds: 40 },
  ],
  ["one owner", { owners: 1, concurrency: 8, fromCall: 1, seconds: 60 }],
];

describe("an outage of the application that is shorter than the run's patience", () => {
  test.each(SHORTER_THAN_PATIENCE)("%s: every report has every network", async (_name, given) => {
    const weekly = shared();
    const { owners, concurrency, fromCall, seconds } = given;
    await seedManyOwners(weekly, owners);
    const away = outage(weekly, { fromCall, seconds });
    const summary = await weekly.run({ ...PATIENT, concurrency }, away.time);
    expect(summary).toMatchObject({
      status: "success",
      exitCode: 0,
      heartbeat: "written",
      reports: { scopes: owners, completed: owners, failed: 0 },
      social: { failed: 0 },
      failures: [],
    });
    await expectAllReported(weekly, owners);
    expect(away.time.monotonicMs()).toBeLessThanOrEqual((seconds + PROBE_SECONDS) * SECOND);
    // The application is not flooded: twenty calls or those of few owners, those on their way, one owner for each probe.
    const probes = Math.ceil(seconds / PROBE_SECONDS);
    expect(away.callsInVain).toBeLessThanOrEqual(20 * concurrency + 2 * probes);
  });

  test("an outage that ends while a probe asks: the probe's failed call is made once more", async () => {
    const weekly = shared();
    await seedOwners(weekly.db.sql, 9);
    const { analysis } = weekly.application.routes;
    // Each owner is asked once; then comes the first call of the first probe.
    analysis.script = () => (analysis.calls.length <= 19 ? AWAY : undefined);
    const summary = await weekly.run({ ...PATIENT, concurrency: 1 }, virtualTime());
    expect(summary).toMatchObject({ status: "success", social: { failed: 0 } });
    await expectAllReported(weekly, 9);
  });

  test("a run for one tenant alone: the report has every network", async () => {
    const weekly = shared();
    const [owner] = await seedOwners(weekly.db.sql, 3);
    const away = outage(weekly, { fromCall: 1, seconds: 60 });
    const summary = await weekly.run({ ...PATIENT, tenantId: owner!.tenantId }, away.time);
    expect(summary).toMatchObject({ status: "success", reports: { scopes: 1, completed: 1 } });
    await expectAllReported(weekly, 1);
  });
});

describe("a call that is on its way when the breaker trips", () => {
  test.each<[string, Scripted | undefined]>([
    ["well", undefined],
    ["with 503", { accept: { status: 503, json: { error: "away" } } }],
  ])(
    "a call that is answered %s then lets nobody in, and its owner is asked for nothing more",
    async (_how, answer) => {
      const weekly = shared();
      // One whose call is held, ten that trip the breaker with two networks each, and one for the probe.
      await seedManyOwners(weekly, 12);
      const { analysis } = weekly.application.routes;
      const time = virtualTime();
      const tripped = Promise.withResolvers<void>();
      let callsBeforeWait: number | null = null;
      time.onWait = () => {
        callsBeforeWait ??= analysis.calls.length;
      };
      analysis.script = (entry) => {
        if (callsBeforeWait !== null) return undefined;
        if (analysis.calls.length === 1 + 20) tripped.resolve();
        return entry === analysis.calls[0] ? answer : AWAY;
      };
      const usual = weekly.onAnalyze;
      weekly.onAnalyze = async (body) => {
        if (callsBeforeWait === null) await tripped.promise;
        await usual(body);
      };
      const summary = await weekly.run({ ...PATIENT, concurrency: 2 }, time);
      expect(callsBeforeWait!).toBe(1 + 20);
      expect(summary).toMatchObject({ status: "success" });
      await expectAllReported(weekly, 12);
    },
  );
});

describe("two outages that begin and end anywhere, also between two calls of an owner", () => {
  const OWNERS = 14;
  /** All of them shorter than the two minutes that a run waits for few owners. */
  const LENGTHS_SECONDS = [3, 30, 100];
  /** One in three finds a run that trusts a good answer to a call that began before the failure. */
  const SEEDS = Array.from({ length: 10 }, (_, i) => i + 1);

  /** Answers that come in another order than the calls. */
  function answerInAnyOrder(weekly: WeeklyFixture, random: Random): void {
    const usual = weekly.onAnalyze;
    weekly.onAnalyze = async (body) => {
      for (let turns = random.below(30); turns > 0; turns -= 1) await setImmediate();
      await usual(body);
    };
  }

  /** The first one in the first pass, the next one after one to six good calls. */
  function goAwayTwice({ application }: WeeklyFixture, random: Random) {
    const time = virtualTime();
    const outages = { begun: 0, time };
    let callsToGo = 1 + random.below(2 * OWNERS);
    let untilMs = 0;
    application.routes.analysis.script = () => {
      if (time.monotonicMs() < untilMs) return AWAY;
      callsToGo -= 1;
      if (callsToGo > 0 || outages.begun === 2) return undefined;
      outages.begun += 1;
      callsToGo = 2 + random.below(6);
      untilMs = time.monotonicMs() + LENGTHS_SECONDS[random.below(LENGTHS_SECONDS.length)]! * SECOND;
      return AWAY;
    };
    return outages;
  }

  test.each(SEEDS)("seed %i, eight at a time: every report has every network", async (seed) => {
    const weekly = shared();
    const random = randomFrom(seed);
    await seedManyOwners(weekly, OWNERS);
    answerInAnyOrder(weekly, random);
    const outages = goAwayTwice(weekly, random);
    const summary = await weekly.run({ ...PATIENT, concurrency: 8 }, outages.time);
    expect(outages.begun).toBeGreaterThan(0);
    expect(summary).toMatchObject({ status: "success", reports: { completed: OWNERS } });
    await expectAllReported(weekly, OWNERS);
  });
});

describe("an application that does not come back while the run waits", () => {
  /** What everybody gets who is asked in vain; a page is what a proxy or a login form says. */
  const IN_VAIN: [string, Scripted | "no analysis"][] = [
    ["503", AWAY],
    [
      "a page with 200",
      { status: 200, headers: { "content-type": "text/html" }, text: "<html>Sign in</html>" },
    ],
    ["200 and no analysis", "no analysis"],
  ];

  test.each(IN_VAIN)(
    "%s to everybody: the run breaks off when its patience is over",
    async (_name, answer) => {
      const weekly = shared();
      await seedManyOwners(weekly, 40);
      if (answer === "no analysis") weekly.onAnalyze = async () => {};
      else weekly.application.routes.analysis.script = () => answer;
      const time = virtualTime();
      const summary = await weekly.run({ ...PATIENT, concurrency: 8 }, time);
      expect(summary).toMatchObject({
        exitCode: 1,
        error: { code: "APP_NOT_ANSWERING" },
        reports: { completed: 0 },
      });
      expect(time.monotonicMs()).toBe(15 * MINUTE);
      expect(Object.keys(await reportStates(weekly))).toEqual(["failed social_retry"]);
      expect([weekly.gateway.ledger, weekly.email.ledger]).toEqual([[], []]);
    },
  );

  test("leaves no report without a network, and the next run makes them", async () => {
    const weekly = shared();
    const owners = 40;
    plantHeartbeat(weekly);
    await seedManyOwners(weekly, owners);
    const log = recordingLog();
    const away = outage(weekly, { fromCall: 21, seconds: 3_600 });
    const editorials = { enabled: true, maxLlmCalls: 30, secretPresent: true };
    const summary = await weekly.run({ ...PATIENT, concurrency: 4, editorials }, { ...away.time, log });
    const { completed, failed } = summary.reports;
    expect(summary).toMatchObject({
      status: "failed",
      exitCode: 1,
      heartbeat: "kept",
      error: { code: "APP_NOT_ANSWERING" },
      social: { failed: 0 },
      whatsapp: { sent: completed },
      email: { sent: completed },
      editorials: { status: "skipped", code: "APP_NOT_ANSWERING", calls: 0 },
    });
    expect(isHeartbeatKept(weekly)).toBe(true);
    expect(weekly.application.routes.editorial.calls).toHaveLength(0);
    expect(await lackingNetworks(weekly)).toEqual({ completed, lacking: [] });
    expect(await reportStates(weekly)).toEqual({ completed, "failed social_retry": failed });
    const waits = { code: "APP_NOT_ANSWERING", waitsFor: "application", until: "2026-11-23T11:15:00Z" };
    expect(log.lines.map(({ level, fields }) => ({ level, fields }))).toContainEqual({
      level: "warn",
      fields: expect.objectContaining(waits),
    });

    weekly.application.routes.analysis.script = null;
    const next = await weekly.run();
    expect(next).toMatchObject({
      status: "success",
      reports: { completed: owners - completed, reused: completed },
    });
    await expectAllReported(weekly, owners);
  });

  test("a run without patience breaks off at once, after twenty calls and those in flight", async () => {
    const weekly = shared();
    await seedManyOwners(weekly, 40);
    const away = outage(weekly, { fromCall: 40, seconds: 3_600 });
    const summary = await weekly.run({ concurrency: 4, patienceMinutes: 0 }, away.time);
    expect(summary).toMatchObject({ exitCode: 1, error: { code: "APP_NOT_ANSWERING" } });
    expect(away.time.monotonicMs()).toBe(0);
    expect(away.callsInVain).toBeLessThanOrEqual(20 * 4);
    expect((await lackingNetworks(weekly)).lacking).toEqual([]);
  });

  test.each([
    [0, 0],
    [1, 1],
    [15, 2],
  ])(
    "nine owners, a patience of %i minutes: after %i minutes the reports are made without networks",
    async (patienceMinutes, waitedMinutes) => {
      const weekly = shared();
      await seedOwners(weekly.db.sql, 9);
      plantHeartbeat(weekly);
      const away = outage(weekly, { fromCall: 1, seconds: 3_600 });
      const log = recordingLog();
      const summary = await weekly.run({ patienceMinutes }, { ...away.time, log });
      expect(summary).toMatchObject({
        status: "failed",
        exitCode: 1,
        error: null,
        reports: { completed: 9, failed: 0 },
        social: { failed: 18 },
        whatsapp: { sent: 9 },
        email: { sent: 9 },
      });
      expect(summary.failures[0]).toEqual({ step: "social", code: "SOCIAL_ALL_CALLS_FAILED" });
      expect(isHeartbeatKept(weekly)).toBe(true);
      expect(await lackingNetworks(weekly)).toEqual({
        completed: 9,
        lacking: Array(18).fill("APP_HTTP_503"),
      });
      expect(away.time.monotonicMs()).toBe(waitedMinutes * MINUTE);
      const waits = log.lines.filter(({ fields }) =>
        JSON.stringify(fields ?? {}).includes("APP_NOT_ANSWERING"),
      );
      expect(waits.length > 0).toBe(waitedMinutes > 0);
    },
  );
});

describe("a run that waits for the application", () => {
  /** Nine owners and an outage; `onWait` happens at the first wait. */
  async function waiting(
    seconds: number,
    onWait: (weekly: WeeklyFixture) => Promise<unknown> | unknown,
    options: Partial<WeeklyOptions> = {},
    interrupt: AbortSignal = new AbortController().signal,
  ) {
    const weekly = shared();
    const owners = await seedOwners(weekly.db.sql, 9);
    const away = outage(weekly, { fromCall: 1, seconds });
    away.time.onWait = async () => {
      if (away.time.waitsMs.length === 1) await onWait(weekly);
    };
    const summary = await weekly.run({ ...PATIENT, ...options }, { ...away.time, interrupt });
    return { weekly, owners, summary, time: away.time };
  }

  test("keeps no lease: every row is failed with social_retry", async () => {
    const seen: unknown[] = [];
    await waiting(60, async (weekly) => seen.push(await reportStates(weekly)));
    expect(seen).toEqual([{ "failed social_retry": 9 }]);
  });

  test("ends at once for a signal, and the next run makes the reports", async () => {
    const interrupt = new AbortController();
    const { weekly, summary } = await waiting(3_600, () => interrupt.abort(), {}, interrupt.signal);
    expect(summary).toMatchObject({
      exitCode: 1,
      error: { code: "RUN_INTERRUPTED" },
      reports: { completed: 0, failed: 9 },
      heartbeat: "kept",
    });
    expect(summary.failures.map(({ code }) => code)).toEqual(Array(9).fill("social_retry"));
    weekly.application.routes.analysis.script = null;
    expect(await weekly.run()).toMatchObject({ status: "success", reports: { completed: 9 } });
  });

  test("ends at midnight: nothing is claimed or sent any more", async () => {
    const { weekly, summary } = await waiting(45, ({ db }) => setClock(db.sql, "2026-11-24T03:00:00Z"));
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
    await seedOwners(weekly.db.sql, 9);
    await setClock(weekly.db.sql, "2026-11-24T02:59:20Z");
    const away = outage(weekly, { fromCall: 1, seconds: 3_600 });
    await weekly.run(PATIENT, away.time);
    expect(away.time.monotonicMs()).toBe(40 * SECOND);
  });

  test("leaves out owners who are archived or deleted meanwhile, and is a success", async () => {
    const weekly = shared();
    const [archived, deleted] = await seedOwners(weekly.db.sql, 9);
    const away = outage(weekly, { fromCall: 1, seconds: 60 });
    away.time.onWait = async () => {
      if (away.time.waitsMs.length > 1) return;
      await weekly.db.sql`update tenants set archived_at = now() where id = ${archived!.tenantId}`;
      await eraseOwner(weekly, deleted!);
    };
    const summary = await weekly.run(PATIENT, away.time);
    expect(summary).toMatchObject({
      status: "success",
      exitCode: 0,
      reports: { completed: 7, failed: 0, ineligible: 2 },
    });
    await expectAllReported(weekly, 7);
  });

  test("reuses the reports that another process makes meanwhile: nobody gets two messages", async () => {
    const theirs: unknown[] = [];
    const { weekly, summary } = await waiting(3_600, async (weekly) => {
      weekly.application.routes.analysis.script = null;
      theirs.push(await weekly.run());
    });
    expect(theirs).toMatchObject([{ status: "success", reports: { completed: 9 } }]);
    expect(summary).toMatchObject({ status: "success", reports: { completed: 0, reused: 9 } });
    await expectAllReported(weekly, 9);
  });

  test("a run that waits finishes what it and a run without patience on another host had begun", async () => {
    const weekly = shared();
    await seedManyOwners(weekly, 60);
    const away = outage(weekly, { fromCall: 1, seconds: 120 });
    const hasty = weekly.run({ patienceMinutes: 0 });
    away.time.onWait = async () => void (await hasty);
    const patient = await weekly.run(PATIENT, away.time);
    expect(await hasty).toMatchObject({ exitCode: 1, error: { code: "APP_NOT_ANSWERING" } });
    expect(patient).toMatchObject({ status: "success", exitCode: 0, error: null });
    await expectAllReported(weekly, 60);
  });
});
