/** An application that takes so many calls a minute, and answers 429 to the rest. */
import { describe, expect, test } from "bun:test";
import type { Scripted } from "../../standins/standin.ts";
import { seedOwners, setClock } from "../../support/seed.ts";
import { connectionOf, lackingNetworks, reportStates, seedManyOwners } from "../support/outage.ts";
import { sharedWeekly } from "../support/shared-weekly.ts";
import { type VirtualTime, virtualTime } from "../support/virtual-time.ts";
import type { WeeklyFixture } from "../support/weekly-fixture.ts";

const shared = sharedWeekly();
const MINUTE_MS = 60_000;
const CALLS_A_MINUTE = 60;

/** Takes so many calls in each minute of the clock; `says` makes the answer to each of the others. */
function throttle({ application }: WeeklyFixture, time: VirtualTime, says: (leftMs: number) => Scripted) {
  const seen = { throttled: 0 };
  let [minute, taken] = [0, 0];
  application.routes.analysis.script = () => {
    const nowMs = time.monotonicMs();
    if (Math.floor(nowMs / MINUTE_MS) !== minute) [minute, taken] = [Math.floor(nowMs / MINUTE_MS), 0];
    taken += 1;
    if (taken <= CALLS_A_MINUTE) return undefined;
    seen.throttled += 1;
    return says(MINUTE_MS - (nowMs % MINUTE_MS));
  };
  return seen;
}

const withRetryAfter = (leftMs: number): Scripted => ({
  status: 429,
  headers: { "retry-after": String(Math.ceil(leftMs / 1000)) },
});

describe("an application that takes 60 calls a minute", () => {
  test.each<[string, number, number, (leftMs: number) => Scripted]>([
    ["names the time to wait, one owner at a time", 70, 1, withRetryAfter],
    ["names the time to wait, eight at a time", 70, 8, withRetryAfter],
    ["names no time", 40, 1, () => ({ status: 429 })],
  ])("%s: the run waits, and every report has every network", async (_name, owners, concurrency, says) => {
    const weekly = shared();
    await seedManyOwners(weekly, owners);
    const time = virtualTime();
    const seen = throttle(weekly, time, says);
    const summary = await weekly.run({ patienceMinutes: 15, concurrency }, time);
    expect(summary).toMatchObject({
      status: "success",
      reports: { completed: owners },
      social: { calls: 2 * owners + seen.throttled, failed: 0 },
    });
    expect(await lackingNetworks(weekly)).toEqual({ completed: owners, lacking: [] });
    expect(seen.throttled).toBeGreaterThan(0);
    expect(Math.max(...time.waitsMs)).toBeLessThanOrEqual(MINUTE_MS);
    // A call that is answered while the clock moves waits a minute more; each minute costs those in flight one call.
    expect(time.monotonicMs()).toBeLessThanOrEqual((concurrency === 1 ? 3 : 6) * MINUTE_MS);
    expect(seen.throttled).toBeLessThanOrEqual(6 * concurrency);
  });

  test("an application that throttles 30 connections all the time: the run waits no longer than its patience, then reports without them", async () => {
    const weekly = shared();
    const owners = await seedOwners(weekly.db.sql, 30);
    const linkedin = new Set(owners.map(({ connections }) => connections[1]!.id));
    weekly.application.routes.analysis.scriptByBody = (entry) =>
      linkedin.has(connectionOf(entry)) ? withRetryAfter(MINUTE_MS) : undefined;
    const time = virtualTime();
    const summary = await weekly.run({ patienceMinutes: 15, concurrency: 4 }, time);
    expect(summary).toMatchObject({ error: null, reports: { completed: 30 }, social: { failed: 30 } });
    expect((await lackingNetworks(weekly)).lacking).toEqual(Array(30).fill("APP_HTTP_429"));
    expect(time.monotonicMs()).toBeLessThanOrEqual(15 * MINUTE_MS);
  });
});

describe("a run that waits for an application that throttles it", () => {
  /** One owner, whose second network is throttled once; `onWait` happens at the first wait. */
  async function throttledOnce(
    onWait: (weekly: WeeklyFixture) => unknown,
    interrupt: AbortSignal = new AbortController().signal,
  ) {
    const weekly = shared();
    await seedOwners(weekly.db.sql, 1);
    const { analysis } = weekly.application.routes;
    analysis.script = () => (analysis.calls.length === 2 ? withRetryAfter(MINUTE_MS) : undefined);
    const time = virtualTime();
    time.onWait = async () => {
      if (time.waitsMs.length === 1) await onWait(weekly);
    };
    return { weekly, summary: await weekly.run({ patienceMinutes: 15 }, { ...time, interrupt }) };
  }

  test("keeps no lease: a run that begins then makes the report at once, and this one reuses it", async () => {
    const seen: unknown[] = [];
    const { weekly, summary } = await throttledOnce(async (weekly) => {
      seen.push(await reportStates(weekly), await weekly.run());
    });
    expect(seen).toMatchObject([
      { "failed social_retry": 1 },
      { status: "success", reports: { completed: 1, busy: 0 } },
    ]);
    expect(summary).toMatchObject({ status: "success", reports: { completed: 0, reused: 1 } });
    expect([weekly.gateway.accepted.length, weekly.email.accepted.length]).toEqual([1, 1]);
  });

  test("ends at once for a signal, and the report is left to the next run", async () => {
    const interrupt = new AbortController();
    const { weekly, summary } = await throttledOnce(() => interrupt.abort(), interrupt.signal);
    expect(summary).toMatchObject({
      exitCode: 1,
      error: { code: "RUN_INTERRUPTED" },
      reports: { completed: 0, failed: 1 },
    });
    expect(weekly.application.routes.analysis.calls).toHaveLength(2);
  });

  test("ends at midnight: the report is left undone and counted", async () => {
    const { weekly, summary } = await throttledOnce(({ db }) => setClock(db.sql, "2026-11-24T03:00:00Z"));
    expect(summary).toMatchObject({
      error: { code: "MONDAY_ENDED" },
      reports: { completed: 0, failed: 1 },
      failures: [{ step: "report", code: "social_retry" }],
    });
    expect(weekly.application.routes.analysis.calls).toHaveLength(2);
  });
});
