/** Two hosts with one database: one delivers, the other takes over, and nothing is done twice. */
import { expect, test } from "bun:test";
import { alertOf, MINUTE_MS, type Service, startService } from "../support/start-service.ts";

const two = async (options = {}): Promise<[Service, Service]> => {
  const one = await startService({ store: "postgres", ...options });
  return [one, await one.another()];
};
const leading = async (...hosts: Service[]) =>
  await Promise.all(hosts.map(async (host) => (await host.health()).leader));

test("one of two hosts delivers what both accept, each alert once, and a fingerprint has one issue", async () => {
  const [one, other] = await two();
  await using _ = one;
  expect(await leading(one, other)).toEqual([true, false]);
  const answers = await Promise.all([one, other, one, other].map((host) => host.post([alertOf("abc")])));
  const issues = answers.map(({ body }) => body.alerts[0]!.issue);
  expect(issues.filter((issue) => issue === "duplicate")).toHaveLength(3);
  await one.advance(5_000);
  expect([one.messages.length, one.tracker.issues.length]).toEqual([4, 1]);
  expect((await other.health()).message).toMatchObject({ queued: 0 });
});

test("a host that ends by a signal hands over at once, one that is killed after 15 seconds", async () => {
  const [one, other] = await two();
  await using _ = one;
  await one.end();
  await one.advance(1_000);
  expect(await leading(other)).toEqual([true]);
  await one.restart();
  await other.kill();
  await one.post([alertOf("a", { status: "resolved" })]);
  await one.advance(13_000);
  expect([await leading(one), one.messages.length]).toEqual([[false], 0]);
  await one.advance(3_000);
  expect([await leading(one), one.messages.length]).toEqual([[true], 1]);
});

test("the host that takes over keeps the pace of the one before, and knows why messages wait", async () => {
  const [one, other] = await two({ messagesPerMinute: 30 });
  await using _ = one;
  await one.post(Array.from({ length: 60 }, (_each, at) => alertOf(`f${at}`, { status: "resolved" })));
  await one.advance(10_000);
  await one.end();
  await other.advance(3 * MINUTE_MS, 2_000);
  const seconds = other.messages.map(({ second }) => second);
  expect(seconds).toHaveLength(60);
  // A burst of ten, then one in two seconds.
  for (const second of [20, 60, 90])
    expect(seconds.filter((at) => at <= second).length).toBeLessThanOrEqual(11 + second / 2);

  await one.restart();
  other.gateway.isLicensed = false;
  await other.post([alertOf("paused", { status: "resolved" })]);
  await other.advance(MINUTE_MS, 5_000);
  await other.end();
  await one.advance(1_000);
  expect((await one.health()).paused.message).toBe("gateway_license_required");
  one.gateway.isLicensed = true;
  await one.advance(2 * MINUTE_MS, 5_000);
  expect(one.messages).toHaveLength(61);
});

test("a critical alert that waits for the gateway is e-mailed while no host can reach the database", async () => {
  const [one, other] = await two({ email: true, storeLimitMs: 2_000 });
  await using _ = one;
  one.gateway.routes.send.script = () => ({ status: 502, text: "Bad Gateway" });
  await one.post([alertOf("worst", { labels: { severity: "critical" } })]);
  await one.advance(10_000);
  for (const host of [one, other]) host.database!.close();
  await one.advance(4 * MINUTE_MS, 30_000);
  expect(one.email.accepted.some(({ text }) => text?.includes("worst"))).toBe(true);
});

test("a send whose host was cut off from the database is looked for by the host that takes over", async () => {
  const [one, other] = await two();
  await using _ = one;
  one.gateway.routes.send.next({ accept: "hang" });
  await one.postOnly([alertOf("a", { status: "resolved" })]);
  one.database!.close();
  await other.advance(2 * MINUTE_MS, 2_000);
  expect(await leading(other)).toEqual([true]);
  expect([other.sends.length, other.messages.length]).toEqual([1, 1]);
  expect((await other.health()).message).toMatchObject({ queued: 0, unknown: 0 });
  one.database!.open();
});
