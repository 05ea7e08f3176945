/** Sends of which nobody knows whether the message arrived: it is looked for before it is sent again. */
import { describe, expect, test } from "bun:test";
import { refusal } from "../../cases/gateway-answers.ts";
import type { Scripted } from "../../standins/standin.ts";
import { until } from "../../support/until.ts";
import {
  alertOf,
  MINUTE_MS,
  onBothStores,
  type Service,
  type ServiceOptions,
  startService,
} from "../support/start-service.ts";

const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const post = (service: Service, name = "a") => service.post([alertOf(name, { status: "resolved" })]);
const message = async (service: Service) => (await service.health()).message;

/** The gateway has sent the message, and this is what it says of it; `isRepeated` until the service stops. */
const UNCLEAR: { name: string; answer: Scripted; options?: ServiceOptions; isRepeated?: boolean }[] = [
  { name: "400 after the send", answer: { accept: refusal(400, ["PrismaClientKnownRequestError: x"]) } },
  { name: "500 after the send", answer: { accept: refusal(500, "Timed Out") }, isRepeated: true },
  { name: "a 504 in the gateway's own form", answer: { accept: refusal(504, ["Error: x"]) } },
  { name: "a page under 200", answer: { accept: "not_json" } },
  { name: "a success without an id", answer: { accept: { status: 201, json: { status: "PENDING" } } } },
  { name: "nothing, and closes", answer: { accept: "drop" }, isRepeated: true },
  { name: "half of an answer", answer: { accept: "break_body" } },
  { name: "nothing, ever", answer: { accept: "hang" }, options: { peerLimitMs: 1_000 }, isRepeated: true },
];

describe("a message that the gateway takes arrives once, where the gateway keeps what it sends, when it answers with", () => {
  onBothStores(UNCLEAR, async ({ answer, options }, store) => {
    await using service = await startService({ store, ...options });
    service.gateway.routes.send.script = () => answer;
    expect((await post(service)).body.alerts[0]).toMatchObject({ whatsapp: "queued" });
    await service.advance(2 * MINUTE_MS, 5_000);
    expect([service.messages.length, service.sends.length]).toEqual([1, 1]);
    expect(await message(service)).toMatchObject({ queued: 0, dead: 0, unknown: 0 });
    expect(await service.metric('opsctl_webhook_sent_total{kind="whatsapp"}')).toBe(1);
    expect(service.log.map(({ msg }) => msg)).toContain("An alert had arrived after all");
    expect(service.gateway.unexpected).toEqual([]);
  });
});

describe("a message is sent three times at most and then kept as unknown, where the gateway keeps nothing, when it answers with", () => {
  onBothStores(
    UNCLEAR.filter(({ isRepeated }) => isRepeated),
    async ({ answer, options }, store) => {
      await using service = await startService({ store, ...options });
      service.gateway.keepsMessages = false;
      service.gateway.routes.send.script = () => answer;
      await post(service);
      await service.advance(HOUR_MS, 30_000);
      expect(service.messages).toHaveLength(3);
      expect(service.lookUps.length).toBeGreaterThanOrEqual(3);
      expect(await message(service)).toMatchObject({ queued: 0, dead: 0, unknown: 1 });
      expect(await service.metric('opsctl_webhook_unknown{kind="whatsapp"}')).toBe(1);
      expect(service.log.at(-1)).toMatchObject({
        level: "error",
        fingerprint: "a",
        code: "send_unknown",
      });

      // It is never repeated automatically, and keeps no other message waiting.
      service.gateway.routes.send.script = null;
      await service.restart();
      await service.advance(DAY_MS, HOUR_MS);
      await post(service);
      expect([service.messages.length, (await message(service)).unknown]).toEqual([4, 1]);
      const [row] = await service.operator.dead();
      expect(row).toMatchObject({ status: "unknown", code: "send_unknown", fingerprint: "a" });
      expect(await service.operator.retryDead([row!.id])).toBe(1);
      await service.advance(MINUTE_MS);
      expect(service.messages).toHaveLength(5);
      expect(await message(service)).toMatchObject({ queued: 0, unknown: 0 });
    },
  );
});

/** A proxy in front, whose time was over or whose connection broke after it had passed the message on. */
const OF_A_PROXY = ([502, 503, 504] as const).map((status) => ({ name: `a bare ${status}`, status }));

describe("a message that a proxy may have passed on, when the proxy answers with", () => {
  onBothStores(OF_A_PROXY, async ({ status }, store) => {
    await using service = await startService({ store });
    service.gateway.proxyStatus = status;
    await post(service);
    await service.restart();
    await service.advance(34_000);
    // A gateway behind a proxy whose time is over may still be sending.
    expect(service.lookUps).toHaveLength(status === 504 ? 0 : 1);
    await service.advance(10_000);
    // It arrives once where the gateway keeps what it sends, after one question.
    expect([service.messages.length, service.sends.length, service.lookUps.length]).toEqual([1, 1, 1]);
    expect(await message(service)).toMatchObject({ queued: 0, dead: 0, unknown: 0 });

    // It is repeated where the gateway keeps nothing, after one question each, and never counts as unknown.
    service.gateway.keepsMessages = false;
    service.gateway.kept.length = 0;
    await post(service, "b");
    await service.advance(HOUR_MS, 30_000);
    expect(service.messages.length).toBeGreaterThan(5);
    expect(Math.abs(service.lookUps.length - service.sends.length)).toBeLessThanOrEqual(1);
    expect(await message(service)).toMatchObject({ queued: 1, dead: 0, unknown: 0 });
    service.gateway.proxyStatus = null;
    await service.advance(10 * MINUTE_MS, 30_000);
    expect(await message(service)).toMatchObject({ queued: 0, dead: 0, unknown: 0 });
  });
});

test("a message that a proxy may have passed on is tried for 24 hours, then unknown, and sent as new when a person retries it", async () => {
  await using service = await startService({ jitter: 1 });
  service.gateway.routes.send.script = () => ({ status: 504, text: "Gateway Timeout" });
  await post(service);
  await service.advance(23 * HOUR_MS, 5 * MINUTE_MS);
  expect(await message(service)).toMatchObject({ queued: 1, unknown: 0 });
  service.gateway.routes.send.script = null;
  service.gateway.proxyStatus = 504;
  await service.advance(6 * MINUTE_MS, MINUTE_MS);
  expect(service.messages).toHaveLength(1);
  service.gateway.routes.messages.script = () => ({ status: 504, text: "Gateway Timeout" });
  service.gateway.keepsMessages = false;
  await service.advance(3 * HOUR_MS, 5 * MINUTE_MS);
  expect(await message(service)).toMatchObject({ queued: 0, dead: 0, unknown: 1 });
  expect(await service.operator.dead()).toMatchObject([{ status: "unknown", code: "gateway_http_504" }]);
  service.gateway.routes.messages.script = null;
  service.gateway.proxyStatus = null;
  const sends = service.sends.length;
  expect(await service.operator.retryDead(null)).toBe(1);
  await service.advance(10 * MINUTE_MS, 10_000);
  expect(service.sends).toHaveLength(sends + 1);
  expect(await message(service)).toMatchObject({ queued: 0, dead: 0, unknown: 0 });
});

/** How a process ends while the gateway takes a message, and what the gateway says when it is first asked. */
const CUT_OFF = [
  { name: "a kill", end: (service: Service) => service.kill(), first: null },
  {
    name: "a kill, after which the gateway is unavailable",
    end: (service: Service) => service.kill(),
    first: "drop" as const,
  },
  {
    name: "a kill, after which the gateway's database is unavailable",
    end: (service: Service) => service.kill(),
    first: refusal(500, "\nInvalid `prisma.message.count()` invocation:\n\n\nCan't reach"),
  },
];

describe("a send that is cut off is looked for until no send can be on its way, and keeps no other message waiting, after", () => {
  onBothStores(CUT_OFF, async ({ end, first }, store) => {
    await using service = await startService({ store });
    const { gateway } = service;
    // The gateway waits for WhatsApp, and writes the message down a minute later.
    gateway.keepsMessages = false;
    gateway.routes.send.next({ accept: "hang" });
    const { answer } = await service.postOnly([alertOf("a", { status: "resolved" })]);
    answer.catch(() => {});
    await end(service);
    if (first !== null) gateway.routes.messages.next(first);
    await service.restart();
    await service.advance(20_000);
    await post(service, "other");
    await service.advance(1_000);
    expect(service.sends.map(({ name }) => name)).toEqual(["a", "other"]);
    await service.advance(39_000);
    expect(service.sends.map(({ name }) => name)).toEqual(["a", "other"]);
    const { number, text, id } = gateway.accepted[0]!;
    gateway.kept.push({
      instance: "ops",
      remoteJid: `${number}@s.whatsapp.net`,
      id,
      text,
      sentAt: Math.floor(service.nowMs / 1_000),
    });
    await service.advance(5 * MINUTE_MS, 10_000);
    expect(service.sends.map(({ name }) => name)).toEqual(["a", "other"]);
    expect(await message(service)).toMatchObject({ queued: 0, dead: 0, unknown: 0 });
  });
});

onBothStores(
  "kills and unclear answers together lead to three sends at most, then to unknown",
  async (store) => {
    await using service = await startService({ store });
    service.gateway.keepsMessages = false;
    service.gateway.routes.send.next(
      { accept: refusal(500, "Timed Out") },
      { accept: "hang" },
      { accept: refusal(500, "Timed Out") },
    );
    await post(service);
    await service.advance(MINUTE_MS);
    expect(service.sends).toHaveLength(2);
    await service.kill();
    await service.restart();
    await service.advance(HOUR_MS, 30_000);
    expect(service.sends).toHaveLength(3);
    expect(await message(service)).toMatchObject({ queued: 0, dead: 0, unknown: 1 });
  },
);

onBothStores(
  "a refusal of us after an unclear send counts as no further one, however long it lasts",
  async (store) => {
    await using service = await startService({ store });
    service.gateway.keepsMessages = false;
    service.gateway.routes.send.next({ accept: refusal(500, "Timed Out") });
    await post(service);
    service.gateway.instances.set("ops", null);
    await service.advance(HOUR_MS, 30_000);
    expect(await message(service)).toMatchObject({ queued: 1, unknown: 0 });
    service.gateway.instances.set("ops", "open");
    await service.advance(2 * MINUTE_MS, 5_000);
    expect(await message(service)).toMatchObject({ queued: 0, unknown: 0 });
    expect(service.messages).toHaveLength(2);
  },
);

test("a message that may have arrived is sent again after ten minutes, three times at most, while the gateway answers no look-up", async () => {
  await using service = await startService();
  service.gateway.keepsMessages = false;
  service.gateway.routes.messages.script = () => "drop";
  service.gateway.routes.send.script = () => ({ accept: "drop" });
  await post(service);
  await service.advance(2 * HOUR_MS, 30_000);
  expect(service.sends).toHaveLength(3);
  expect(service.sends[1]!.second).toBeGreaterThan(600);
  expect(await message(service)).toMatchObject({ queued: 1, unknown: 0 });
});

test("a result that the database does not take is recorded when it is back, and nothing is sent again", async () => {
  await using service = await startService({ store: "postgres", storeLimitMs: 1_000 });
  service.gateway.latencyMs = 300;
  const posting = service.post([alertOf("a", { status: "resolved" })]);
  await until("it is on its way", () => service.sends.length === 1);
  service.failStore();
  const cannot = "The result of a delivery cannot be recorded yet";
  await until("that is logged", () => service.log.some(({ msg }) => msg === cannot));
  service.restoreStore();
  expect((await posting).status).toBe(200);
  await service.advance(2 * MINUTE_MS, 1_000);
  expect(await message(service)).toMatchObject({ queued: 0, dead: 0, unknown: 0 });
  expect([service.messages.length, service.sends.length, service.lookUps.length]).toEqual([1, 1, 0]);
});
