import { expect, test } from "bun:test";
import { seedOwner } from "../../support/seed.ts";
import { sharedWeekly } from "../support/shared-weekly.ts";
import type { WeeklyFixture } from "../support/weekly-fixture.ts";

const shared = sharedWeekly();
const BAD_GATEWAY = { status: 502, text: "Bad Gateway" };

async function monday(owners: number): Promise<WeeklyFixture> {
  const weekly = shared();
  for (let i = 0; i < owners; i += 1) await seedOwner(weekly.db.sql, { networks: [] });
  return weekly;
}

test("a provider that asks to wait for an hour stops its channel, and WhatsApp goes on at once", async () => {
  const weekly = await monday(20);
  const anHour = { status: 429, json: { name: "rate_limit_exceeded" }, headers: { "retry-after": "3600" } };
  weekly.email.routes.send.script = () => anHour;
  const summary = await weekly.run({ concurrency: 4 });
  expect(summary.whatsapp.sent).toBe(20);
  expect(summary.email.sent).toBe(0);
  expect(summary.email.failed + summary.email.skipped).toBe(20);
  expect(weekly.email.routes.send.calls.length).toBeLessThanOrEqual(4);
  expect(summary.exitCode).toBe(1);
});

test("a gateway with ten unknown results in a row stops WhatsApp; each further run costs ten more at most, and the rest is sent at last", async () => {
  const weekly = await monday(30);
  weekly.gateway.routes.send.script = () => BAD_GATEWAY;
  const first = await weekly.run({ concurrency: 8 });
  const { unknown, skipped, failed } = first.whatsapp;
  expect(weekly.gateway.routes.send.calls).toHaveLength(10);
  expect(unknown).toBe(10);
  // One that was claimed and not yet handed over when the channel stopped has failed: it was not sent.
  expect(failed).toBeLessThanOrEqual(7);
  expect(unknown + skipped + failed).toBe(30);
  expect(first.failures.map(({ code }) => code)).toContain("whatsapp_not_answering");
  expect(first.email.sent).toBe(30);

  expect((await weekly.run({ concurrency: 1 })).whatsapp).toMatchObject({ unknown: 20, sent: 0 });
  weekly.gateway.routes.send.script = null;
  expect((await weekly.run({ concurrency: 1 })).whatsapp).toMatchObject({
    unknown: 20,
    sent: 10,
    skipped: 0,
  });
  expect(weekly.gateway.accepted).toHaveLength(10);
});

test("an e-mail provider with ten unknown results in a row stops e-mail, and WhatsApp goes on", async () => {
  const weekly = await monday(14);
  weekly.email.routes.send.script = () => "drop";
  const { whatsapp, email, failures } = await weekly.run({ concurrency: 1 });
  expect(whatsapp.sent).toBe(14);
  expect(email).toMatchObject({ unknown: 10, skipped: 4 });
  expect(failures.map(({ code }) => code)).toContain("email_not_answering");
});

test("unknown results with a message sent between them stop nothing", async () => {
  const weekly = await monday(30);
  const { send } = weekly.gateway.routes;
  send.script = () => (send.calls.length % 10 === 0 ? undefined : BAD_GATEWAY);
  const { whatsapp } = await weekly.run({ concurrency: 1 });
  expect(whatsapp).toMatchObject({ sent: 3, unknown: 27, failed: 0, skipped: 0 });
});

test("unknown results with owners between them who have no number stop the channel all the same", async () => {
  const weekly = shared();
  for (let i = 0; i < 24; i += 1)
    await seedOwner(weekly.db.sql, { networks: [], ...(i % 2 ? { phone: null } : {}) });
  weekly.gateway.routes.send.script = () => BAD_GATEWAY;
  const { whatsapp, failures } = await weekly.run({ concurrency: 1 });
  expect(whatsapp.unknown).toBe(10);
  expect(failures.map(({ code }) => code)).toContain("whatsapp_not_answering");
});
