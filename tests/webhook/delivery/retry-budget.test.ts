/** For how long a message is tried, what does not count as trying, and what becomes of it afterwards. */
import { describe, expect, test } from "bun:test";
import { refusedPort } from "../../standins/raw-peer.ts";
import { alertOf, MINUTE_MS, onBothStores, type Service, startService } from "../support/start-service.ts";

const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** The longest wait for which a row is put off. */
const STEP_MS = 5 * MINUTE_MS;
const LONGEST_WAITS = { jitter: 1 };

/** Where no gateway is. */
const nowhere = async () => `http://127.0.0.1:${await refusedPort()}`;

const post = (service: Service, name = "a") => service.post([alertOf(name, { status: "resolved" })]);
const message = async (service: Service) => (await service.health()).message;

onBothStores(
  "a message is dead after 24 hours of trying, and goes out when an operator retries it",
  async (store) => {
    await using service = await startService({ store, ...LONGEST_WAITS, gatewayUrl: await nowhere() });
    await post(service);
    await service.advance(24.4 * HOUR_MS, STEP_MS);
    const tries = service.log.filter(({ msg }) => msg === "An alert could not be delivered yet");
    expect(tries.slice(0, 3).map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
    expect(await message(service)).toMatchObject({ queued: 1, dead: 0 });
    // Each process tries a message for an hour at least.
    await service.restart();
    await service.advance(50 * MINUTE_MS, STEP_MS);
    expect(await message(service)).toMatchObject({ queued: 1, dead: 0 });
    await service.advance(HOUR_MS, STEP_MS);
    expect(await message(service)).toMatchObject({ queued: 0, dead: 1, unknown: 0 });
    expect(service.log.at(-1)).toMatchObject({
      ...{ level: "error", msg: "An alert was not delivered; see opsctl webhook dead list" },
      ...{ kind: "message", fingerprint: "a", code: "gateway_unreachable" },
    });
    expect(await service.metric('opsctl_webhook_dead_total{kind="whatsapp"}')).toBe(1);
    const [row] = await service.operator.dead();
    expect(row).toMatchObject({
      kind: "message",
      status: "dead",
      alertname: "a",
      code: "gateway_unreachable",
    });

    // A retry gives it 24 hours again.
    expect(await service.operator.retryDead([row!.id])).toBe(1);
    await service.advance(2 * HOUR_MS, STEP_MS);
    expect(await message(service)).toMatchObject({ queued: 1, dead: 0 });
    await service.reload({ gatewayUrl: service.gateway.url });
    await service.advance(HOUR_MS, STEP_MS);
    expect(service.messages).toHaveLength(1);
  },
);

onBothStores("the first message after an outage counts the alerts that were not delivered", async (store) => {
  await using service = await startService({ store, ...LONGEST_WAITS, gatewayUrl: await nowhere() });
  await post(service);
  await service.advance(26 * HOUR_MS, STEP_MS);
  expect(await message(service)).toMatchObject({ queued: 0, dead: 1 });
  await service.reload({ gatewayUrl: service.gateway.url });
  for (const name of ["b", "c"]) await post(service, name);
  const counts = service.messages.map(({ text }) => /Enquanto .*/.exec(text)?.[0]);
  expect(counts).toEqual(["Enquanto o WhatsApp não recebia: 1 alerta não entregue", undefined]);
});

/** What happens while a gateway that is unavailable for good gets one message; hours, and what lies between. */
const NO_TRYING: { name: string; run(service: Service): Promise<void> }[] = [
  {
    name: "a service that is stopped for days again and again",
    async run(service) {
      for (let times = 0; times < 3; times += 1) {
        await service.end();
        await service.advance(2 * DAY_MS, DAY_MS);
        await service.restart();
        await service.advance(30 * MINUTE_MS, STEP_MS);
      }
    },
  },
  {
    name: "a clock that is set forward and back by days",
    async run(service) {
      for (const days of [3, -6, 33, -30]) {
        await service.shiftClock(days * DAY_MS);
        await service.advance(HOUR_MS, STEP_MS);
      }
    },
  },
];

describe("no message is dead after", () => {
  onBothStores(NO_TRYING, async ({ run }, store) => {
    await using service = await startService({ store, ...LONGEST_WAITS, gatewayUrl: await nowhere() });
    await post(service);
    await service.advance(HOUR_MS, STEP_MS);
    await run(service);
    expect(await message(service)).toMatchObject({ queued: 1, dead: 0, unknown: 0 });
    await service.reload({ gatewayUrl: service.gateway.url });
    // However the clock was set: no row waits longer than an hour.
    await service.advance(HOUR_MS + MINUTE_MS, STEP_MS);
    expect(service.messages).toHaveLength(1);
  });

  test("no message is dead because it stands behind others for days", async () => {
    await using service = await startService({ messagesPerMinute: 1 });
    service.gateway.routes.send.script = () => ({ status: 413, json: { status: 413, error: "Too Large" } });
    await service.post(Array.from({ length: 5 }, (_, at) => alertOf(`f${at}`, { status: "resolved" })));
    // At each step one of them has its turn.
    await service.advance(27 * HOUR_MS, STEP_MS);
    expect(service.sends.length).toBeGreaterThan(300);
    expect(await message(service)).toMatchObject({ queued: 5, dead: 0 });
  });
});
