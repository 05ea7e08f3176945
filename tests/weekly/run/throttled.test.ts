import { expect, test } from "bun:test";
import { noPace } from "../../../lib/platform/rate/pace.ts";
import { seedOwner, setClock } from "../../support/seed.ts";
import { weeklyFixture } from "../support/weekly-fixture.ts";

test("deliver() gives a throttled message its turn in the pace again before each repeat", async () => {
  await using weekly = await weeklyFixture();
  await seedOwner(weekly.db.sql);
  const throttled = { status: 429, json: { name: "rate_limit_exceeded" }, headers: { "retry-after": "0" } };
  weekly.email.routes.send.next(throttled, throttled);
  const events: string[] = [];
  weekly.email.routes.send.script = () => void events.push("send");
  const tryTurn = () => {
    events.push("turn");
    return () => void events.push("release");
  };
  const emailPace = { ...noPace, tryTurn, turn: async () => tryTurn() };

  const summary = await weekly.run({}, { emailPace });

  expect(summary.email).toMatchObject({ sent: 1, failed: 0 });
  expect(weekly.email.routes.send.calls).toHaveLength(3);
  expect(events.filter((event) => event === "turn")).toHaveLength(3);
  expect(events.filter((event) => event === "release")).toHaveLength(3);
});

test("deliver() leaves the lease room for one more send, the question that may follow it, and the settling", async () => {
  // 300 s of the lease, less 90 for the send, 5 for the question and 10 to settle: 195 s may be waited.
  const waitsAsked = async (seconds: number) => {
    await using weekly = await weeklyFixture();
    await seedOwner(weekly.db.sql);
    const { send } = weekly.gateway.routes;
    send.next({ status: 429, headers: { "retry-after": String(seconds) } });
    const waitsMs: number[] = [];
    const sleep = async (ms: number) => void waitsMs.push(ms);
    const { whatsapp } = await weekly.run({ skipEmail: true }, { monotonicMs: () => 0, sleep });
    return { waitsMs, sends: send.calls.length, sent: whatsapp.sent, failed: whatsapp.failed };
  };

  expect(await waitsAsked(185)).toEqual({ waitsMs: [185_000], sends: 2, sent: 1, failed: 0 });
  expect(await waitsAsked(197)).toEqual({ waitsMs: [], sends: 1, sent: 0, failed: 1 });
});

test("deliver() waits for a gateway that cannot ask its database, and leaves nothing in doubt", async () => {
  await using weekly = await weeklyFixture();
  await seedOwner(weekly.db.sql);
  weekly.gateway.hasDatabase = false;
  const waitsMs: number[] = [];
  const sleep = async (ms: number) => {
    waitsMs.push(ms);
    weekly.gateway.hasDatabase = waitsMs.length === 3;
  };
  const { whatsapp, exitCode } = await weekly.run({ skipEmail: true }, { sleep });
  expect(whatsapp).toMatchObject({ sent: 1, failed: 0, unknown: 0 });
  expect(exitCode).toBe(0);
  expect(waitsMs).toEqual([10_000, 10_000, 10_000]);
  expect(weekly.gateway.accepted).toHaveLength(1);
});

test("deliver() leaves a message to the next run when the gateway's database stays away: nothing is sent or in doubt", async () => {
  await using weekly = await weeklyFixture();
  await seedOwner(weekly.db.sql);
  weekly.gateway.hasDatabase = false;
  const waitsMs: number[] = [];
  const sleep = async (ms: number) => void waitsMs.push(ms);
  const first = await weekly.run({ skipEmail: true }, { sleep });
  expect(waitsMs).toEqual([10_000, 10_000, 10_000]);
  expect(first.whatsapp).toMatchObject({ sent: 0, failed: 1, unknown: 0 });
  expect(first.exitCode).toBe(1);
  expect(first.failures).toMatchObject([{ step: "whatsapp", code: "gateway_database_failed" }]);
  weekly.gateway.hasDatabase = true;
  for (let runs = 0; runs < 2; runs += 1) expect((await weekly.run({ skipEmail: true })).exitCode).toBe(0);
  expect(weekly.gateway.accepted).toHaveLength(1);
});

test("a run that is killed while it waits for the gateway's database leaves a doubt, which no run sends", async () => {
  await using weekly = await weeklyFixture();
  await seedOwner(weekly.db.sql);
  weekly.gateway.hasDatabase = false;
  const waits = Promise.withResolvers<void>();
  const sleep = (ms: number) => {
    if (ms === 10_000) waits.resolve();
    return new Promise<void>(() => {});
  };
  void weekly.run({ skipEmail: true }, { sleep });
  await waits.promise;
  weekly.gateway.hasDatabase = true;
  expect((await weekly.run({ skipEmail: true })).whatsapp).toMatchObject({ sent: 0, unknown: 0 });
  await setClock(weekly.db.sql, "2026-11-23T12:30:00Z");
  for (let runs = 0; runs < 2; runs += 1) {
    const { whatsapp, exitCode, week } = await weekly.run({ skipEmail: true });
    expect([whatsapp.sent, whatsapp.unknown, week?.whatsapp.unknown, exitCode]).toEqual([0, 1, 1, 1]);
  }
  expect(weekly.gateway.accepted).toEqual([]);
});
