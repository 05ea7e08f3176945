/** How long a run waits for an application that throttles it, beside connections that get 429 whatever it does. */
import { expect, test } from "bun:test";
import { Temporal } from "../../../lib/time/temporal.ts";
import { createThrottle } from "../../../lib/weekly/outage/throttle.ts";
import { silentLog } from "../../support/silent-log.ts";
import { virtualTime } from "../support/virtual-time.ts";

const MINUTE_MS = 60_000;
const START = Temporal.Instant.from("2026-11-23T11:00:00Z");

function throttleAtZero({ mondayMs = 24 * 60 * MINUTE_MS } = {}) {
  const time = virtualTime();
  const told: object[] = [];
  const stop = new AbortController();
  const throttle = createThrottle({
    ...time,
    patienceMs: 15 * MINUTE_MS,
    mondayLeftMs: () => mondayMs - time.monotonicMs(),
    clockAt: (ms) => START.add({ milliseconds: ms }),
    signal: stop.signal,
    log: { ...silentLog, info: (msg, fields) => told.push({ msg, ...fields }) },
  });
  /** Repeats one call for as long as it is worth it, and returns how long that took. */
  const waitInVain = async (retryAfterMs: number): Promise<number> => {
    const beganMs = time.monotonicMs();
    for (let repeats = 0; ; repeats += 1) {
      const untilMs = throttle.waitUntil({ retryAfterMs, repeats });
      if (untilMs === null) return time.monotonicMs() - beganMs;
      await throttle.wait(untilMs);
    }
  };
  const pass = (ms: number) => time.sleep(ms);
  return { throttle, waitInVain, pass, told, stop };
}

test("one connection that always gets 429 does not end the waits for the whole run", async () => {
  const { throttle, waitInVain, pass } = throttleAtZero();
  expect(await waitInVain(60_000)).toBe(15 * MINUTE_MS);
  await pass(MINUTE_MS);
  expect(await waitInVain(2_000)).toBe(2_000);
  throttle.helped();
  expect(await waitInVain(60_000)).toBe(15 * MINUTE_MS);
});

test("waits longer before each repeat of a call, up to half a minute, where the answer names no time", () => {
  const { throttle } = throttleAtZero();
  const waits = [0, 1, 2, 3, 4, 5, 6, 60].map((repeats) => throttle.waitUntil({ retryAfterMs: 0, repeats }));
  expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
  expect(throttle.waitUntil({ retryAfterMs: 45_000, repeats: 6 })).toBe(45_000);
});

test("begins no wait that is longer than the patience", async () => {
  const { throttle, pass } = throttleAtZero();
  await pass(600 * MINUTE_MS);
  expect(throttle.waitUntil({ retryAfterMs: 15 * MINUTE_MS + 1, repeats: 0 })).toBeNull();
  expect(throttle.waitUntil({ retryAfterMs: 15 * MINUTE_MS, repeats: 0 })).toBe(615 * MINUTE_MS);
});

test("ends a wait without a word when the run stops", async () => {
  const { throttle, stop } = throttleAtZero();
  stop.abort();
  await expect(throttle.wait(60_000)).resolves.toBeUndefined();
});

test("says of a wait until when it lasts, once until one has helped", () => {
  const { throttle, told } = throttleAtZero();
  throttle.waitUntil({ retryAfterMs: 90_400, repeats: 0 });
  throttle.waitUntil({ retryAfterMs: 10_000, repeats: 1 });
  const wait = { code: "APP_HTTP_429", waitsFor: "application", until: "2026-11-23T11:01:31Z", seconds: 91 };
  expect(told).toMatchObject([wait]);
  throttle.helped();
  throttle.waitUntil({ retryAfterMs: 10_000, repeats: 0 });
  expect(told).toMatchObject([wait, { until: "2026-11-23T11:00:10Z" }]);
});

test("a wait of long ago does not count as one that goes on", async () => {
  const { throttle, pass } = throttleAtZero();
  const once = { retryAfterMs: 30_000, repeats: 0 };
  expect(throttle.waitUntil(once)).toBe(30_000);
  await pass(20 * MINUTE_MS);
  expect(throttle.waitUntil(once)).toBe(20 * MINUTE_MS + 30_000);
});

test("connections that always get 429 cost the patience, then a twentieth of the run", async () => {
  const { waitInVain, pass } = throttleAtZero();
  let waitedMs = 0;
  for (let calls = 0; calls < 5_000; calls += 1) {
    waitedMs += await waitInVain(1_000);
    await pass(1_000);
  }
  expect(waitedMs).toBeLessThanOrEqual(15 * MINUTE_MS + (5_000 * 1_000) / 20);
});

test("once the patience is spent, no wait is begun before twenty times its length", async () => {
  const { waitInVain, pass } = throttleAtZero();
  await waitInVain(60_000);
  await pass(40_000 - 1);
  expect(await waitInVain(2_000)).toBe(0);
  await pass(1);
  expect(await waitInVain(2_000)).toBe(2_000);
});

test("and none before that of the one that ended last, whichever began last", async () => {
  const { throttle, waitInVain, pass } = throttleAtZero();
  await waitInVain(14 * MINUTE_MS);
  const now = 14 * MINUTE_MS;
  expect(throttle.waitUntil({ retryAfterMs: 60_000, repeats: 0 })).toBe(now + 60_000);
  expect(throttle.waitUntil({ retryAfterMs: 2_000, repeats: 0 })).toBe(now + 2_000);
  await pass(60_000 + 40_000 - 1);
  expect(throttle.waitUntil({ retryAfterMs: 2_000, repeats: 0 })).toBeNull();
  await pass(1);
  expect(throttle.waitUntil({ retryAfterMs: 2_000, repeats: 0 })).not.toBeNull();
});

test("no wait goes beyond midnight: what there is can still be sent", async () => {
  const { waitInVain } = throttleAtZero({ mondayMs: 3 * MINUTE_MS });
  expect(await waitInVain(60_000)).toBe(2 * MINUTE_MS);
});
