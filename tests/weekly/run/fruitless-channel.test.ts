import { expect, test } from "bun:test";
import { seedOwner } from "../../support/seed.ts";
import { sharedWeekly } from "../support/shared-weekly.ts";

const shared = sharedWeekly();
/** A few more than the hundred in vain that stop a channel, and the seven that are on their way then. */
const MANY = 110;

test("a provider that asks for an hour's patience stops its channel, and WhatsApp goes on at once", async () => {
  const weekly = shared();
  for (let i = 0; i < 20; i += 1) await seedOwner(weekly.db.sql, { networks: [] });
  const patience = { status: 429, json: { name: "rate_limit_exceeded" }, headers: { "retry-after": "3600" } };
  weekly.email.routes.send.script = () => patience;

  const summary = await weekly.run({ concurrency: 4 });

  expect(summary.whatsapp.sent).toBe(20);
  expect(summary.email.sent).toBe(0);
  expect(summary.email.failed + summary.email.skipped).toBe(20);
  expect(weekly.email.routes.send.calls.length).toBeLessThanOrEqual(4);
  expect(summary.exitCode).toBe(1);
});

test("a provider that leaves ten deliveries in doubt in a row stops its channel; the next run sends the rest", async () => {
  const weekly = shared();
  for (let i = 0; i < 25; i += 1) await seedOwner(weekly.db.sql, { networks: [] });
  weekly.timeoutsMs = { email: 100 };
  weekly.email.routes.send.script = () => "hang";

  const first = await weekly.run({ concurrency: 8 });

  expect(first.whatsapp.sent).toBe(25);
  // On a busy machine a call may be given up before the provider has seen it.
  expect(weekly.email.routes.send.calls.length).toBeLessThanOrEqual(10);
  expect(first.email.unknown).toBe(10);
  // One that was claimed and not yet handed over when the channel stopped has failed: it was not sent.
  const { unknown, skipped, failed } = first.email;
  expect(failed).toBeLessThanOrEqual(7);
  expect(unknown + skipped + failed).toBe(25);
  expect(first.failures.map(({ code }) => code)).toContain("email_not_answering");

  weekly.timeoutsMs = {};
  weekly.email.routes.send.script = null;
  const second = await weekly.run({ concurrency: 8 });
  expect(second.email).toMatchObject({ sent: skipped + failed, unknown });
  expect(weekly.email.accepted).toHaveLength(skipped + failed);
});

test("a gateway that hangs when it is asked for its instance stops WhatsApp: each owner would cost the time limit", async () => {
  const weekly = shared();
  for (let i = 0; i < MANY; i += 1) await seedOwner(weekly.db.sql, { networks: [] });
  weekly.timeoutsMs = { gateway: 100 };
  weekly.gateway.routes.state.script = () => "hang";

  const first = await weekly.run({ concurrency: 8 });

  expect(first.email.sent).toBe(MANY);
  // On a busy machine a call may be given up before the gateway has seen it: the lower bound is of the asked.
  expect(weekly.gateway.routes.state.calls.length).toBeLessThanOrEqual(100 + 7);
  expect(first.whatsapp).toMatchObject({ sent: 0, unknown: 0 });
  expect(first.whatsapp.failed).toBeGreaterThanOrEqual(100);
  expect(first.whatsapp.failed + first.whatsapp.skipped).toBe(MANY);
  expect(first.failures.map(({ code }) => code)).toContain("whatsapp_not_answering");

  weekly.timeoutsMs = {};
  weekly.gateway.routes.state.script = null;
  const second = await weekly.run({ concurrency: 8 });
  expect(second.whatsapp.sent).toBe(MANY);
  expect(weekly.gateway.accepted).toHaveLength(MANY);
});

test("an account that Meta limits for the whole run stops WhatsApp: each owner's e-mail would wait for its repeats", async () => {
  const weekly = shared();
  for (let i = 0; i < MANY; i += 1) await seedOwner(weekly.db.sql, { networks: [] });
  const limited = { message: "(#80007) no", type: "OAuthException", code: 80_007, fbtrace_id: "A" };
  weekly.gateway.routes.send.script = () => ({ status: 201, json: limited });
  const waitsMs: number[] = [];
  const sleep = async (ms: number) => void waitsMs.push(ms);

  const first = await weekly.run({ concurrency: 8 }, { sleep });

  expect(first.email.sent).toBe(MANY);
  const { failed, skipped } = first.whatsapp;
  expect(first.whatsapp).toMatchObject({ sent: 0, unknown: 0 });
  expect(failed + skipped).toBe(MANY);
  expect(failed).toBeGreaterThanOrEqual(100);
  expect(failed).toBeLessThanOrEqual(100 + 7);
  expect(waitsMs.filter((ms) => ms === 30_000).length).toBeLessThanOrEqual(107 * 3);
  expect(new Set(first.failures.map(({ code }) => code))).toEqual(new Set(["meta_80007"]));

  weekly.gateway.routes.send.script = null;
  const second = await weekly.run({ concurrency: 8 });
  expect(second.whatsapp.sent).toBe(MANY);
  expect(weekly.gateway.accepted).toHaveLength(MANY);
});

test("doubts with a message sent between them stop nothing", async () => {
  const weekly = shared();
  for (let i = 0; i < 30; i += 1) await seedOwner(weekly.db.sql, { networks: [] });
  const { send } = weekly.gateway.routes;
  send.script = () => (send.calls.length % 10 === 0 ? undefined : { status: 502, text: "Bad Gateway" });
  const { whatsapp } = await weekly.run({ concurrency: 1 });
  expect(whatsapp).toMatchObject({ sent: 3, unknown: 27, failed: 0, skipped: 0 });
});

test("doubts with owners between them who have no number stop the channel all the same", async () => {
  const weekly = shared();
  for (let i = 0; i < 24; i += 1)
    await seedOwner(weekly.db.sql, { networks: [], ...(i % 2 ? { phone: null } : {}) });
  weekly.gateway.routes.send.script = () => ({ status: 502, text: "Bad Gateway" });
  const { whatsapp, failures } = await weekly.run({ concurrency: 1 });
  expect(whatsapp.unknown).toBe(10);
  expect(failures.map(({ code }) => code)).toContain("whatsapp_not_answering");
});

test("each further run of the Monday costs ten more doubts at most, and what was left out is sent at last", async () => {
  const weekly = shared();
  for (let i = 0; i < 30; i += 1) await seedOwner(weekly.db.sql, { networks: [] });
  weekly.gateway.routes.send.script = () => ({ status: 502, text: "Bad Gateway" });
  for (const unknown of [10, 20])
    expect((await weekly.run({ concurrency: 1 })).whatsapp).toMatchObject({ unknown, sent: 0 });
  weekly.gateway.routes.send.script = null;
  expect((await weekly.run({ concurrency: 1 })).whatsapp).toMatchObject({
    unknown: 20,
    sent: 10,
    skipped: 0,
  });
});
