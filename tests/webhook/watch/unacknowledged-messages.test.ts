/** Messages that the gateway took and WhatsApp does not acknowledge: they are counted. */
import { describe, expect, test } from "bun:test";
import { alertOf, MINUTE_MS, type Service, startService } from "../support/start-service.ts";
import { STEP_MS } from "../support/two-channels.ts";

const DAY_MS = 24 * 60 * MINUTE_MS;

/** Posts an alert and has WhatsApp say these of its message. */
async function send(service: Service, name: string, ...statuses: string[]): Promise<void> {
  await service.post([alertOf(`alert-${name}`)]);
  acknowledge(service, name, ...statuses);
  // Which is the newest is seen by the time of delivery.
  await service.advance(1_000);
}

function acknowledge({ gateway }: Service, name: string, ...statuses: string[]): void {
  const row = gateway.kept.find(({ text }) => text.includes(`alert-${name}*`));
  if (row !== undefined) row.statuses = statuses;
}

/** What the metrics say: messages that are pending after ten minutes, and the newest in a row after two. */
const counts = async (service: Service) => [
  await service.metric("opsctl_webhook_pending_messages"),
  await service.metric("opsctl_webhook_newest_unacknowledged_messages"),
];

const minutes = (service: Service, count: number) => service.advance(count * MINUTE_MS, STEP_MS);

describe("the metrics count", () => {
  test("the newest in a row from two minutes on, and all that are pending after ten", async () => {
    await using service = await startService();
    await send(service, "a", "READ");
    await send(service, "b");
    await send(service, "c", "PENDING", "ERROR");
    await send(service, "d", "ERROR", "DELIVERY_ACK");
    await send(service, "e", "ERROR");
    await send(service, "f");
    expect(await counts(service)).toEqual([null, null]);
    await minutes(service, 3);
    expect(await counts(service)).toEqual([0, 2]);
    await minutes(service, 6);
    expect(await counts(service)).toEqual([0, 2]);
    await minutes(service, 2);
    expect(await counts(service)).toEqual([4, 2]);
    acknowledge(service, "c", "SERVER_ACK");
    acknowledge(service, "f", "SERVER_ACK");
    await minutes(service, 1);
    expect(await counts(service)).toEqual([2, 0]);
  });

  test("no row for what lies between messages that are acknowledged, or is not known to the gateway", async () => {
    await using service = await startService();
    await send(service, "a", "READ");
    await send(service, "b");
    await send(service, "c", "READ");
    service.gateway.keepsMessages = false;
    await send(service, "d");
    await minutes(service, 12);
    expect(await counts(service)).toEqual([1, 0]);
  });

  test.each([
    ["keeps no messages", false],
    ["keeps no acknowledgements", true],
  ])("nothing at a gateway that %s", async (_what, keepsMessages) => {
    await using service = await startService();
    service.gateway.keepsMessages = keepsMessages;
    for (const name of ["a", "b", "c"]) await send(service, name);
    await minutes(service, 12);
    expect(await counts(service)).toEqual([null, null]);
  });

  test("nothing that is pending while the gateway gives no answer; a row stays", async () => {
    await using service = await startService();
    for (const name of ["a", "b", "c"]) await send(service, name, ...(name === "a" ? ["READ"] : []));
    await minutes(service, 11);
    expect(await counts(service)).toEqual([2, 2]);
    service.gateway.routes.messages.script = () => "drop";
    await minutes(service, 1);
    expect(await counts(service)).toEqual([null, 2]);
    service.gateway.routes.messages.script = null;
    await minutes(service, 1);
    expect(await counts(service)).toEqual([2, 2]);
  });

  test("a row that is older than a day, also after a restart, until a newer message is acknowledged", async () => {
    await using service = await startService();
    await send(service, "a", "READ");
    for (const name of ["b", "c", "d"]) await send(service, name);
    await minutes(service, 3);
    expect(await counts(service)).toEqual([0, 3]);
    await service.advance(DAY_MS, 10 * MINUTE_MS);
    expect(await counts(service)).toEqual([0, 3]);
    await send(service, "e");
    await minutes(service, 11);
    expect(await counts(service)).toEqual([1, 4]);
    await service.restart();
    await minutes(service, 1);
    expect(await counts(service)).toEqual([1, 4]);
    await send(service, "f", "SERVER_ACK");
    await minutes(service, 3);
    expect(await counts(service)).toEqual([1, 0]);
  });

  test("only the host that delivers counts messages that are not acknowledged", async () => {
    await using service = await startService({ store: "postgres" });
    const other = await service.another();
    for (const name of ["a", "b"]) await send(service, name, ...(name === "a" ? ["READ"] : []));
    await minutes(service, 4);
    expect(await counts(service)).toEqual([0, 1]);
    expect(await counts(other)).toEqual([null, null]);
  });
});

test("the gateway is asked about fifty messages a minute at most, and once about one that is acknowledged", async () => {
  await using service = await startService();
  const names = Array.from({ length: 120 }, (_, at) => `m${at}`);
  await service.post(names.map((name) => alertOf(`alert-${name}`)));
  await service.advance(20_000);
  for (const name of names.slice(60)) acknowledge(service, name, "READ");
  const { calls } = service.gateway.routes.messages;
  const asked: number[] = [];
  for (let minute = 0; minute < 12; minute += 1) {
    const before = calls.length;
    await minutes(service, 1);
    asked.push(calls.length - before);
  }
  expect(Math.max(...asked)).toBe(50);
  expect(await counts(service)).toEqual([60, expect.any(Number)]);
  const { id } = service.gateway.kept.find(({ text }) => text.includes("alert-m100*"))!;
  expect(calls.filter(({ rawBody }) => rawBody.includes(id))).toHaveLength(1);
  for (const row of service.gateway.kept) row.statuses = ["READ"];
  await minutes(service, 3);
  expect(await counts(service)).toEqual([0, 0]);
});
