/** An application that takes so many calls a minute, and answers 429 to the rest. */
import { describe, expect, test } from "bun:test";
import { setImmediate } from "node:timers/promises";
import type { Scripted } from "../../standins/standin.ts";
import { setClock } from "../../support/seed.ts";
import {
  connectionOf,
  lackingNetworks,
  reportStates,
  seedManyOwners,
  seedOwners,
} from "../support/outage.ts";
import { sharedWeekly } from "../support/shared-weekly.ts";
import type { WeeklyFixture } from "../support/weekly-fixture.ts";

const shared = sharedWeekly();
const MINUTE_MS = 60_000;

/** A clock that only waiting moves; those who wait at the same time wait for the same minute. */
function sharedTime() {
  let nowMs = 0;
  const waitsMs: number[] = [];
  return {
    waitsMs,
    monotonicMs: () => nowMs,
    async sleep(ms: number, signal?: AbortSignal) {
      if (ms >= 1_000) waitsMs.push(ms);
      const untilMs = nowMs + ms;
      await setImmediate();
      signal?.throwIfAborted();
      nowMs = Math.max(nowMs, untilMs);
    },
  };
}

/** Takes so many calls in each minute of the clock; `says` makes the answer of a refusal. */
function throttle(
  { application }: WeeklyFixture,
  time: { monotonicMs(): number },
  says: (leftMs: number) => Scripted,
) {
  const seen = { throttled: 0 };
  let [minute, taken] = [0, 0];
  application.routes.analysis.script = () => {
    const nowMs = time.monotonicMs();
    if (Math.floor(nowMs / MINUTE_MS) !== minute) [minute, taken] = [Math.floor(nowMs / MINUTE_MS), 0];
    taken += 1;
    if (taken <= 60) return undefined;
    seen.throttled += 1;
    return says(MINUTE_MS - (nowMs % MINUTE_MS));
  };
  return seen;
}

const withRetryAfter = (leftMs: number): Scripted => ({
  status: 429,
  headers: { "retry-after": String(Math.ceil(leftMs / 1000)) },
});

describe("runWeekly() with an application that takes 60 calls a minute", () => {
  test.each([1, 8])(
    "%i at a time: it waits as it is asked to, and every report has every network",
    async (n) => {
      const weekly = shared();
      await seedManyOwners(weekly, 70);
      const time = sharedTime();
      const seen = throttle(weekly, time, withRetryAfter);
      const summary = await weekly.run({ patienceMinutes: 15, concurrency: n }, time);
      expect(summary).toMatchObject({
        status: "success",
        reports: { completed: 70 },
        social: { failed: 0 },
      });
      expect(await lackingNetworks(weekly)).toEqual({ completed: 70, lacking: [] });
      expect(time.waitsMs.every((ms) => ms <= MINUTE_MS)).toBe(true);
      // A call that is answered while the clock moves waits a minute more.
      expect(time.monotonicMs()).toBeLessThanOrEqual((n === 1 ? 3 : 6) * MINUTE_MS);
      // Each minute costs each owner in flight one call, which is repeated.
      expect(seen.throttled).toBeGreaterThanOrEqual(time.waitsMs.length);
      expect(seen.throttled).toBeLessThanOrEqual((n === 1 ? 3 : 6) * n);
      expect(summary.social.calls).toBe(140 + seen.throttled);
    },
  );

  test("that names no time: it waits longer each time, and every report has every network", async () => {
    const weekly = shared();
    await seedManyOwners(weekly, 40);
    const time = sharedTime();
    const seen = throttle(weekly, time, () => ({ status: 429 }));
    const summary = await weekly.run({ patienceMinutes: 15, concurrency: 1 }, time);
    expect(summary).toMatchObject({ status: "success", social: { failed: 0 } });
    expect(time.waitsMs).toEqual([1, 2, 4, 8, 16, 30].map((seconds) => seconds * 1_000));
    expect(seen.throttled).toBe(6);
  });
});

describe("runWeekly() with connections that always get 429", () => {
  const always = async (patienceMinutes: number, seconds: number) => {
    const weekly = shared();
    const owners = await seedOwners(weekly, 30);
    const linkedin = new Set(owners.map(({ connections }) => connections[1]!.id));
    weekly.application.routes.analysis.scriptByBody = (entry) =>
      linkedin.has(connectionOf(entry))
        ? { status: 429, headers: { "retry-after": String(seconds) } }
        : undefined;
    const time = sharedTime();
    const summary = await weekly.run({ patienceMinutes, concurrency: 4 }, time);
    expect(summary).toMatchObject({ error: null, reports: { completed: 30 }, social: { failed: 30 } });
    expect((await lackingNetworks(weekly)).lacking).toEqual(Array(30).fill("APP_HTTP_429"));
    return time;
  };

  test("it waits as long as its patience, once in the whole run", async () => {
    expect((await always(15, 60)).monotonicMs()).toBe(15 * MINUTE_MS);
  });

  test.each([
    [15, 1_000],
    [0, 1],
  ])("a patience of %i minutes is too short for %i seconds: it does not wait", async (patience, seconds) => {
    expect((await always(patience, seconds)).waitsMs).toEqual([]);
  });
});

test("a signal ends such a wait at once, and the report is left to the next run", async () => {
  const weekly = shared();
  await seedOwners(weekly, 1);
  const interrupt = new AbortController();
  weekly.application.routes.analysis.next({ status: 429, headers: { "retry-after": "60" } });
  const sleep = async (ms: number, signal?: AbortSignal) => {
    if (ms === MINUTE_MS) interrupt.abort();
    signal?.throwIfAborted();
  };
  const time = { monotonicMs: () => 0, sleep };
  const summary = await weekly.run({ patienceMinutes: 15 }, { ...time, interrupt: interrupt.signal });
  expect(summary).toMatchObject({
    exitCode: 1,
    error: { code: "RUN_INTERRUPTED" },
    reports: { completed: 0, failed: 1 },
  });
  expect(weekly.application.routes.analysis.calls).toHaveLength(1);
});

/** The second call of all, which is the owner's other network. */
function throttleSecondCall({ application }: WeeklyFixture, seconds: number): void {
  const { analysis } = application.routes;
  const answer = { status: 429, headers: { "retry-after": String(seconds) } };
  analysis.script = () => (analysis.calls.length === 2 ? answer : undefined);
}

test("a wait may be longer than a lease, and the answers before it stand", async () => {
  const weekly = shared();
  await seedOwners(weekly, 1);
  throttleSecondCall(weekly, 1_500);
  const time = sharedTime();
  const summary = await weekly.run({ patienceMinutes: 60 }, time);
  expect(summary).toMatchObject({ status: "success", social: { calls: 3, failed: 0 } });
  expect(time.waitsMs).toEqual([1_500_000]);
  expect(await lackingNetworks(weekly)).toEqual({ completed: 1, lacking: [] });
});

describe("runWeekly() while it waits for an application that asks for fewer calls", () => {
  test("holds nothing: a run that begins then makes the report at once, and this one reuses it", async () => {
    const weekly = shared();
    await seedOwners(weekly, 1);
    throttleSecondCall(weekly, 60);
    const time = sharedTime();
    const seen: unknown[] = [];
    const sleep = async (ms: number, signal?: AbortSignal) => {
      if (ms === MINUTE_MS) seen.push(await reportStates(weekly), await weekly.run());
      await time.sleep(ms, signal);
    };
    const ours = await weekly.run({ patienceMinutes: 15 }, { ...time, sleep });
    expect(seen).toMatchObject([
      { "failed social_retry": 1 },
      { status: "success", reports: { completed: 1, busy: 0 } },
    ]);
    expect(ours).toMatchObject({ status: "success", reports: { completed: 0, reused: 1 } });
    expect([weekly.gateway.accepted.length, weekly.email.accepted.length]).toEqual([1, 1]);
  });

  test("midnight ends it: the report is left undone and counted", async () => {
    const weekly = shared();
    await seedOwners(weekly, 1);
    throttleSecondCall(weekly, 60);
    const time = sharedTime();
    const sleep = async (ms: number, signal?: AbortSignal) => {
      if (ms === MINUTE_MS) await setClock(weekly.db.sql, "2026-11-24T03:00:00Z");
      await time.sleep(ms, signal);
    };
    const summary = await weekly.run({ patienceMinutes: 15 }, { ...time, sleep });
    expect(summary).toMatchObject({
      error: { code: "MONDAY_ENDED" },
      reports: { completed: 0, failed: 1 },
      failures: [{ step: "report", code: "social_retry" }],
    });
    expect(weekly.application.routes.analysis.calls).toHaveLength(2);
  });

  test("an owner whose other network fails for good gets a report that says so, by one call each", async () => {
    const weekly = shared();
    const [owner] = await seedOwners(weekly, 1);
    const first = owner!.connections[0]!;
    let throttled = 0;
    weekly.application.routes.analysis.scriptByBody = (entry) => {
      if (connectionOf(entry) === first.id) return undefined;
      throttled += 1;
      return throttled === 1 ? { status: 429 } : { status: 404 };
    };
    const summary = await weekly.run({ patienceMinutes: 15 }, sharedTime());
    expect(summary).toMatchObject({ reports: { completed: 1 }, social: { calls: 3, failed: 1 } });
    expect(await lackingNetworks(weekly)).toEqual({ completed: 1, lacking: ["APP_HTTP_404"] });
  });
});
