import { expect, test } from "bun:test";
import { createPace } from "../../../lib/platform/rate/pace.ts";
import { seedOwner } from "../../support/seed.ts";
import { weeklyFixture } from "../support/weekly-fixture.ts";

const LEASE_MS = 5 * 60_000;

/** What becomes of an e-mail that is throttled for 30 seconds, `lateMs` after the claim whose answer was lost. */
async function throttledAfter(lateMs: number) {
  await using weekly = await weeklyFixture();
  await seedOwner(weekly.db.sql);
  let nowMs = 0;
  const { send } = weekly.email.routes;
  send.next({ status: 429, json: { name: "rate_limit_exceeded" }, headers: { "retry-after": "30" } });
  const { email } = await weekly.run(
    {},
    {
      emailPace: createPace({ perMinute: 1_000_000 }),
      monotonicMs: () => nowMs,
      sleep: async (ms) => {
        nowMs += ms;
      },
      wrapStore: (store) => ({
        async settleAndClaimEmail(...args) {
          await store.settleAndClaimEmail(...args);
          nowMs += lateMs;
          throw Object.assign(new Error("connection closed"), { code: "CONNECTION_CLOSED" });
        },
      }),
    },
  );
  return { sends: send.calls.length, sent: email.sent, failed: email.failed };
}

test("deliver() counts the lease from the claim whose answer was lost: it may have begun then", async () => {
  expect(await throttledAfter(0)).toEqual({ sends: 2, sent: 1, failed: 0 });
  // Of the lease 50 seconds are left: too few to wait, to send once more and to settle.
  expect(await throttledAfter(LEASE_MS - 50_000)).toEqual({ sends: 1, sent: 0, failed: 1 });
});
