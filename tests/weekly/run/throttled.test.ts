import { expect, test } from "bun:test";
import { noPace } from "../../../lib/platform/rate/pace.ts";
import { seedOwner } from "../../support/seed.ts";
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
