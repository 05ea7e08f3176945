/** What a restart keeps, and what it waits for. */
import { expect, test } from "bun:test";
import { until } from "../../support/until.ts";
import { startFailing } from "../support/failing-store.ts";
import { alertOf, MINUTE_MS, onBothStores, startService } from "../support/start-service.ts";

onBothStores(
  "a restart goes on with what was accepted and not delivered, and keeps which alerts have an issue",
  async (store) => {
    await using service = await startService({ store });
    service.gateway.routes.send.script = () => "drop_unread";
    service.tracker.routes.graphql.script = () => "drop_unread";
    await service.post([alertOf("abc")]);
    await service.restart();
    service.gateway.routes.send.script = null;
    service.tracker.routes.graphql.script = null;
    await service.advance(2 * MINUTE_MS, 5_000);
    expect([service.messages.length, service.tracker.issues.length]).toEqual([1, 1]);
    expect((await service.post([alertOf("abc")])).body.alerts[0]).toMatchObject({ issue: "duplicate" });
    expect(service.tracker.issues).toHaveLength(1);
  },
);

onBothStores(
  "a service that is asked to end finishes what is on its way, and answers for it",
  async (store) => {
    await using service = await startService({ store });
    service.gateway.latencyMs = 300;
    const posting = service.post([alertOf("a"), alertOf("b", { status: "resolved" })]);
    await until("both are on their way", () => service.sends.length === 2);
    expect(service.messages).toEqual([]);
    await service.end();
    expect(await posting).toMatchObject({ status: 200, body: { accepted: 2 } });
    expect(service.messages).toHaveLength(2);
    await service.restart();
    await service.advance(MINUTE_MS, 5_000);
    expect([service.sends.length, service.tracker.issues.length]).toEqual([2, 1]);
  },
);

onBothStores(
  "a service that is asked to end records how a send ended for which no answer waits",
  async (store) => {
    await using service = await startService({ store });
    service.gateway.routes.send.next({ status: 413, json: {} });
    await service.post([alertOf("a", { status: "resolved" })]);
    service.gateway.latencyMs = 300;
    const moving = service.advance(10_000);
    await until("it is tried again", () => service.sends.length === 2);
    await service.end();
    await moving;
    await service.restart();
    await service.advance(MINUTE_MS, 5_000);
    expect([service.messages.length, service.sends.length, service.lookUps.length]).toEqual([1, 2, 0]);
  },
);

test("a service whose gateway and database give no answer ends within ten seconds, and answers every post", async () => {
  await using service = await startFailing({ store: "postgres", storeLimitMs: 4_000 });
  service.gateway.routes.send.script = () => "hang";
  const kept = await service.postOnly([alertOf("a")]);
  service.database!.silence();
  const inMemory = await service.postOnly([alertOf("b")]);
  await until("both are sent", () => service.sends.length === 2, 10_000);
  const before = performance.now();
  await service.end();
  expect(performance.now() - before).toBeLessThan(10_000);
  expect((await kept.answer).status).toBe(200);
  expect([200, 503]).toContain((await inMemory.answer).status);
});
