import { expect, test } from "bun:test";
import { seedOwner, setClock } from "../../support/seed.ts";
import { sharedWeekly } from "../support/shared-weekly.ts";
import { virtualTime } from "../support/virtual-time.ts";
import type { WeeklyFixture } from "../support/weekly-fixture.ts";

const shared = sharedWeekly();
const ONLY_WHATSAPP = { skipEmail: true };

async function oneOwner(): Promise<WeeklyFixture> {
  const weekly = shared();
  await seedOwner(weekly.db.sql, { networks: [] });
  return weekly;
}

/** A gateway that cannot ask its own database whether it knows the number; it has sent nothing. */
async function withoutDatabase(): Promise<WeeklyFixture> {
  const weekly = await oneOwner();
  weekly.gateway.hasDatabase = false;
  return weekly;
}

// 300 s of the lease, less 90 for the send, 5 for the question that may follow it and 10 to settle.
test.each([
  [185, { sends: 2, sent: 1, failed: 0 }],
  [197, { sends: 1, sent: 0, failed: 1 }],
])(
  "a 429 for %i seconds is waited for while the delivery's lease has room for one more send",
  async (seconds, expected) => {
    const weekly = await oneOwner();
    const { send } = weekly.gateway.routes;
    send.next({ status: 429, headers: { "retry-after": String(seconds) } });
    const time = virtualTime();
    const { whatsapp } = await weekly.run(ONLY_WHATSAPP, time);
    const { sent, failed } = whatsapp;
    expect({ sends: send.calls.length, sent, failed }).toEqual(expected);
    expect(time.waitsMs).toEqual(expected.sent === 1 ? [seconds * 1_000] : []);
  },
);

test("a 429 from the e-mail provider is repeated until the e-mail is taken", async () => {
  const weekly = await oneOwner();
  const limited = { status: 429, json: { name: "rate_limit_exceeded" }, headers: { "retry-after": "2" } };
  weekly.email.routes.send.next(limited, limited);
  const { email } = await weekly.run({ skipWhatsapp: true }, virtualTime());
  expect(email).toMatchObject({ sent: 1, failed: 0 });
  expect(weekly.email.routes.send.calls).toHaveLength(3);
});

test("a gateway whose database is unavailable for a moment is waited for, and no result is unknown", async () => {
  const weekly = await withoutDatabase();
  const time = virtualTime();
  time.onWait = () => {
    weekly.gateway.hasDatabase = time.waitsMs.length === 3;
  };
  expect(await weekly.run(ONLY_WHATSAPP, time)).toMatchObject({
    exitCode: 0,
    whatsapp: { sent: 1, failed: 0, unknown: 0 },
  });
  expect(time.waitsMs).toEqual([10_000, 10_000, 10_000]);
  expect(weekly.gateway.accepted).toHaveLength(1);
});

test("a gateway whose database stays unavailable leaves the message to the next run: nothing is sent or unknown", async () => {
  const weekly = await withoutDatabase();
  const first = await weekly.run(ONLY_WHATSAPP, virtualTime());
  expect(first).toMatchObject({
    exitCode: 1,
    whatsapp: { sent: 0, failed: 1, unknown: 0 },
    failures: [{ step: "whatsapp", code: "gateway_database_failed" }],
  });
  weekly.gateway.hasDatabase = true;
  for (let runs = 0; runs < 2; runs += 1) expect((await weekly.run(ONLY_WHATSAPP)).exitCode).toBe(0);
  expect(weekly.gateway.accepted).toHaveLength(1);
});

test("a run that is killed while it waits for the gateway's database leaves an unknown result, which no run sends", async () => {
  const weekly = await withoutDatabase();
  const waits = Promise.withResolvers<void>();
  const sleep = (ms: number) => {
    if (ms === 10_000) waits.resolve();
    return new Promise<void>(() => {});
  };
  void weekly.run(ONLY_WHATSAPP, { sleep });
  await waits.promise;
  weekly.gateway.hasDatabase = true;
  expect((await weekly.run(ONLY_WHATSAPP)).whatsapp).toMatchObject({ sent: 0, unknown: 0 });
  await setClock(weekly.db.sql, "2026-11-23T12:30:00Z");
  for (let runs = 0; runs < 2; runs += 1) {
    const { whatsapp, exitCode, week } = await weekly.run(ONLY_WHATSAPP);
    expect([whatsapp.sent, whatsapp.unknown, week?.whatsapp.unknown, exitCode]).toEqual([0, 1, 1, 1]);
  }
  expect(weekly.gateway.accepted).toEqual([]);
});
