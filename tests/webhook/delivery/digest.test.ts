/** Alerts that one message combines, with --digest-after. */
import { expect, test } from "bun:test";
import { alertOf, MINUTE_MS, onBothStores, type Service, startService } from "../support/start-service.ts";

const host = (at: number) => `h${String(at).padStart(5, "0")}`;
const of = (at: number, changes: { status?: string; severity?: string } = {}) =>
  alertOf(`f${at}`, {
    status: changes.status ?? "firing",
    labels: { alertname: "Regra", instance: host(at), severity: changes.severity ?? "warning" },
  });
const together = ({ text }: { text: string }) => Number(/(\d+) alertas nesta mensagem/.exec(text)?.[1] ?? 1);

/** How many messages name each host. */
function onPhone(service: Service): Map<string, number> {
  const count = new Map<string, number>();
  for (const { text } of service.messages)
    for (const name of new Set(text.match(/\bh\d{5}\b/g))) count.set(name, (count.get(name) ?? 0) + 1);
  return count;
}

onBothStores(
  "a flood is sent within minutes at the usual pace, each alert by one line, and the critical one by itself within seconds",
  async (store) => {
    await using service = await startService({ store, messagesPerMinute: 30, digestAfterSeconds: 120 });
    await service.post(Array.from({ length: 500 }, (_, at) => of(at, { status: "resolved" })));
    await service.advance(15_000, 1_000);
    await service.post([of(50_000, { severity: "critical" })]);
    await service.advance(10_000);
    const critical = service.messages.find(({ text }) => text.includes(host(50_000)))!;
    expect([critical.second <= 25, together(critical)]).toEqual([true, 1]);
    await service.advance(4 * MINUTE_MS, 2_000);
    expect((await service.health()).message).toMatchObject({ queued: 0, dead: 0 });
    expect([onPhone(service).size, new Set(onPhone(service).values())]).toEqual([501, new Set([1])]);
    expect(service.messages.length).toBeLessThan(120);
    expect(await service.metric('opsctl_webhook_sent_total{kind="whatsapp"}')).toBe(501);
  },
);

test("only what would wait too long is combined, an alert and its end in one line, and nothing critical", async () => {
  await using service = await startService({ messagesPerMinute: 1, digestAfterSeconds: 120 });
  await service.post([of(1)]);
  // Two, one a minute, are at the limit: each by itself.
  await service.post([of(20), of(21)]);
  await service.advance(MINUTE_MS + 2_000, 1_000);
  expect(service.messages.map(together)).toEqual([1, 1]);
  await service.post([of(30), of(30, { status: "resolved" }), of(31, { severity: "CRITICAL" })]);
  await service.advance(3 * MINUTE_MS, 1_000);
  const [worst, rest] = service.messages.slice(2);
  expect([worst!.text.includes(host(31)), together(worst!), together(rest!)]).toEqual([true, 1, 2]);
  expect(rest!.text.match(/h00030/g)).toHaveLength(1);
  expect((await service.health()).message).toMatchObject({ queued: 0 });
});

onBothStores(
  "alerts that one message combines are repeated together, with the same bytes where they may have arrived, and end together",
  async (store) => {
    await using service = await startService({ store, digestAfterSeconds: 1, messagesPerMinute: 30 });
    service.gateway.keepsMessages = false;
    service.gateway.routes.send.next(
      { accept: { status: 500, json: {} } },
      { status: 502, text: "Bad Gateway" },
    );
    await service.post([1, 2, 3].map((at) => of(at)));
    await service.restart();
    await service.advance(5 * MINUTE_MS, 5_000);
    const ofThree = service.sends.filter((sent) => together(sent) === 3);
    expect(ofThree).toHaveLength(3);
    expect(new Set(ofThree.map(({ text }) => text)).size).toBe(1);
    expect(service.sends).toHaveLength(3);
    expect((await service.health()).message).toMatchObject({ queued: 0, dead: 0, unknown: 0 });
    const delivered = service.log.filter(
      ({ msg, kind }) => msg === "Delivered an alert" && kind === "message",
    );
    expect(delivered.map(({ others }) => ((others as number[] | undefined) ?? []).length).toSorted()).toEqual(
      [2],
    );
  },
);

onBothStores(
  "alerts that one message combines and that end as unknown are listed and counted each, and retried together",
  async (store) => {
    await using service = await startService({ store, digestAfterSeconds: 1, messagesPerMinute: 30 });
    service.gateway.keepsMessages = false;
    service.gateway.routes.send.script = () => ({ accept: { status: 500, json: {} } });
    await service.post([1, 2, 3].map((at) => of(at, { status: "resolved" })));
    await service.advance(60 * MINUTE_MS, 30_000);
    expect((await service.health()).message).toMatchObject({ queued: 0, unknown: 3 });
    service.gateway.routes.send.script = null;
    const [, , last] = await service.operator.dead();
    expect(await service.operator.retryDead([last!.id])).toBe(3);
    await service.advance(MINUTE_MS, 5_000);
    expect(together(service.messages.at(-1)!)).toBe(3);
    expect((await service.health()).message).toMatchObject({ queued: 0, unknown: 0 });
  },
);
