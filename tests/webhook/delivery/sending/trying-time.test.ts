import { afterEach, describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Attempt } from "../../../../lib/webhook/delivery/attempts/attempt.ts";
import { TryingTime } from "../../../../lib/webhook/delivery/sending/trying-time.ts";
import { GIVE_UP_MS } from "../../../../lib/webhook/state/contract.ts";
import { type DispatcherFixture, startDispatcher } from "../../support/dispatcher-fixture.ts";
import { retry } from "../../support/retry.ts";
import { resolvedAlert } from "../../support/sample-alert.ts";
import { DAY_MS, MINUTE_MS, SECOND_MS } from "../../support/state-fixture.ts";

const HOUR_MS = 60 * MINUTE_MS;

/** What happens between two attempts: how long the row was to wait, stood behind others, and was held. */
const step = fc.record({
  delayMs: fc.integer({ min: 0, max: HOUR_MS }),
  behindMs: fc.integer({ min: 0, max: 3 * DAY_MS }),
  tookMs: fc.integer({ min: 0, max: 35 * SECOND_MS }),
  isRefusal: fc.boolean(),
});

describe("TryingTime", () => {
  test("never counts more than its waits and the attempts themselves, nor than has passed, and never goes back", () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 60 }), (steps) => {
        const time = new TryingTime();
        let [now, triedMs, most, counted] = [0, 0, 0, 0];
        const firstMs = steps[0]!.behindMs;
        for (const { delayMs, behindMs, tookMs, isRefusal } of steps) {
          const startedMs = now + behindMs;
          const tried = time.count(
            { id: 1, triedMs },
            { startedMs, endedMs: startedMs + tookMs, openSinceMs: 0, counts: !isRefusal },
          );
          if (!isRefusal) most += tookMs;
          expect(tried.triedMs).toBeGreaterThanOrEqual(triedMs);
          expect(tried.triedMs).toBeLessThanOrEqual(Math.min(most, startedMs + tookMs - firstMs));
          triedMs = tried.triedMs;
          counted += isRefusal ? 0 : 1;
          expect(tried.mayEnd).toBe(counted >= 10 && triedMs >= HOUR_MS);
          time.expect(1, delayMs);
          most += delayMs;
          now = startedMs + tookMs;
        }
      }),
    );
  });

  test("counts nothing of the time in which the channel was stopped", () => {
    const time = new TryingTime();
    time.count({ id: 1, triedMs: 0 }, { startedMs: 0, endedMs: 10, openSinceMs: 0, counts: true });
    time.expect(1, 1_000);
    const again = { startedMs: 2_000, endedMs: 2_005, openSinceMs: 700, counts: true };
    expect(time.count({ id: 1, triedMs: 10 }, again).triedMs).toBe(10 + (1_010 - 700) + 5);
    time.expect(1, 1_000);
    const afterAll = { startedMs: 5_000, endedMs: 5_005, openSinceMs: 4_000, counts: true };
    expect(time.count({ id: 1, triedMs: 325 }, afterAll).triedMs).toBe(325 + 5);
  });

  test.each([
    { waitedMs: 400 * SECOND_MS, mayEnd: [false, true], why: "an hour, at the tenth" },
    { waitedMs: 400 * SECOND_MS - 1, mayEnd: [false, false, true], why: "less than an hour at the tenth" },
    { waitedMs: HOUR_MS, mayEnd: [false, true], why: "nine hours, at the tenth" },
  ])("lets a row end with ten attempts over an hour of this process: $why", ({ waitedMs, mayEnd }) => {
    const time = new TryingTime();
    const ends: boolean[] = [];
    for (let n = 0; n < 8 + mayEnd.length; n += 1) {
      const at = { startedMs: n * waitedMs, endedMs: n * waitedMs, openSinceMs: 0, counts: true };
      ends.push(time.count({ id: 1, triedMs: GIVE_UP_MS }, at).mayEnd);
      // A refusal that meets every row is no attempt of this one.
      time.count({ id: 1, triedMs: GIVE_UP_MS }, { ...at, counts: false });
      time.expect(1, waitedMs);
    }
    expect(ends).toEqual([...Array.from({ length: 8 }, () => false), ...mayEnd]);
  });

  test("of more than a hundred thousand rows lets go of the one that was untried longest", () => {
    const time = new TryingTime();
    const count = (id: number, at: number) =>
      time.count({ id, triedMs: 0 }, { startedMs: at, endedMs: at, openSinceMs: 0, counts: true }).triedMs;
    for (let id = 0; id < 100_000; id += 1) {
      count(id, 0);
      time.expect(id, 1_000);
    }
    expect(count(0, 1_000)).toBe(1_000);
    time.expect(0, 1_000);
    count(100_000, 1_000);
    expect([0, 2, 1].map((id) => count(id, 2_000))).toEqual([1_000, 1_000, 0]);
  });

  test("begins anew in each process, for each row, and after a row has ended", () => {
    const time = new TryingTime();
    const attempt = (at: number) => ({ startedMs: at, endedMs: at, openSinceMs: 0, counts: true });
    for (let n = 0; n < 20; n += 1) {
      time.count({ id: 1, triedMs: GIVE_UP_MS }, attempt(n * 10 * MINUTE_MS));
      time.expect(1, 10 * MINUTE_MS);
    }
    expect(time.count({ id: 1, triedMs: GIVE_UP_MS }, attempt(200 * MINUTE_MS)).mayEnd).toBe(true);
    expect(time.count({ id: 2, triedMs: GIVE_UP_MS }, attempt(200 * MINUTE_MS)).mayEnd).toBe(false);
    time.forget(1);
    expect(time.count({ id: 1, triedMs: GIVE_UP_MS }, attempt(200 * MINUTE_MS)).mayEnd).toBe(false);
  });
});

let run: DispatcherFixture;
const message = async () => (await run.state.stats()).message;

describe("a message that the gateway does not take", () => {
  afterEach(async () => await run.close());

  const away: Attempt = async () => retry("gateway_http_502", { peerDown: true });
  const refuses: Attempt = async () => retry("gateway_unauthorized", { peerDown: true, stopsChannel: true });
  let gateway: Attempt;
  const start = async (lookMs = MINUTE_MS) => {
    run = await startDispatcher({ message: (row, signal) => gateway(row, signal), lookMs });
    await run.accept(resolvedAlert());
  };

  test("is given up after 24 hours of trying, and no sooner", async () => {
    gateway = away;
    await start(5 * MINUTE_MS);
    await run.advance(23 * HOUR_MS);
    expect(await message()).toMatchObject({ queued: 1, dead: 0 });
    // The test's jitter halves each wait of five minutes; what a row waited beyond that does not count.
    await run.advance(30 * HOUR_MS);
    expect(await message()).toMatchObject({ queued: 0, dead: 1 });
  });

  test("survives a clock that is set forward and back by days", async () => {
    gateway = away;
    await start();
    for (const skewMs of [3 * DAY_MS, -3 * DAY_MS, 30 * DAY_MS, 0]) {
      run.skewMs = skewMs;
      await run.advance(HOUR_MS);
    }
    expect(await message()).toMatchObject({ queued: 1, dead: 0 });
    gateway = async () => ({ status: "delivered", reference: "a", url: null });
    // However far ahead it was put: no row waits longer than an hour.
    await run.advance(HOUR_MS + MINUTE_MS);
    expect(run.phone).toHaveLength(1);
  });

  test("and whose service is stopped for 48 hours again and again, is tried for an hour after each start", async () => {
    gateway = away;
    await start();
    await run.advance(HOUR_MS);
    for (let restarts = 0; restarts < 3; restarts += 1) {
      await run.restart(48 * HOUR_MS);
      await run.advance(30 * MINUTE_MS);
    }
    expect(await message()).toMatchObject({ queued: 1, dead: 0 });
  });

  test("is held for 48 hours, over a restart, and goes out at once when the gateway takes it", async () => {
    gateway = refuses;
    await start(10 * MINUTE_MS);
    await run.advance(48 * HOUR_MS);
    await run.restart(48 * HOUR_MS);
    await run.advance(0);
    expect(run.dispatcher.stops.message).toBe("gateway_unauthorized");
    expect(await message()).toMatchObject({ queued: 1, dead: 0 });
    expect((await run.state.holds()).message).toMatchObject({ code: "gateway_unauthorized" });
    gateway = away;
    await run.advance(HOUR_MS);
    expect(await message()).toMatchObject({ queued: 1, dead: 0 });
    gateway = async () => ({ status: "delivered", reference: "a", url: null });
    await run.advance(10 * MINUTE_MS);
    expect(run.phone).toHaveLength(1);
    expect((await run.state.holds()).message).toBeNull();
  });

  test("stands behind others for days and is not given up for that", async () => {
    const tries = new Map<number, number>();
    gateway = async ({ id }) => {
      tries.set(id, (tries.get(id) ?? 0) + 1);
      return retry("recipient_not_on_whatsapp");
    };
    run = await startDispatcher({
      message: (row, signal) => gateway(row, signal),
      messagesPerMinute: 1,
      lookMs: 5 * MINUTE_MS,
    });
    await run.accept(...Array.from({ length: 20 }, (_, n) => resolvedAlert({ fingerprint: `f${n}` })));
    // The oldest are always first; the last ones get their turn now and then.
    await run.advance(50 * HOUR_MS);
    const dead = new Set((await run.state.listDead()).map(({ id }) => id));
    expect(dead.size).toBeLessThan(20);
    expect(tries.size).toBeGreaterThan(dead.size);
    // 24 hours of waits of five minutes at most.
    for (const [id, times] of tries) expect(dead.has(id) && times < 288).toBe(false);
  });
});
