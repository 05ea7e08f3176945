/** The store keeps alerts again after degraded mode: nothing that was sent from memory is sent or created once more. */
import { describe, expect, test as testAnywhere } from "bun:test";
import type { Scripted } from "../../standins/standin.ts";
import { requires } from "../../support/requires.ts";
import {
  loseStore,
  onFailingStores,
  phone,
  refuse,
  startDegraded,
  startFailing,
} from "../support/failing-store.ts";
import { alertOf, MINUTE_MS, type Service } from "../support/start-service.ts";

const { test } = requires("mount");

const PROXY_504: Scripted = { status: 504, text: "Gateway Timeout" };

/** Nothing is queued, dead or unknown. */
async function expectNothingOpen(service: Service): Promise<void> {
  const { message, issue } = await service.health();
  const nothing = { queued: 0, dead: 0, unknown: 0 };
  expect([message, issue]).toMatchObject([nothing, nothing]);
}

describe("a post that is repeated", () => {
  onFailingStores("what the gateway took of it is not sent with the rest", async (store) => {
    await using service = await startDegraded({ store });
    service.gateway.keepsMessages = false;
    refuse(service, "c");
    const post = () => service.post([alertOf("a"), alertOf("b"), alertOf("c")]);
    expect((await post()).status).toBe(503);
    expect(phone(service).toSorted()).toEqual(["a", "b"]);
    service.restoreStore();
    service.gateway.routes.send.scriptByBody = null;
    expect(await post()).toMatchObject({ status: 200 });
    await service.advance(6 * MINUTE_MS, 5_000);
    expect(phone(service).toSorted()).toEqual(["a", "b", "c"]);
    await expectNothingOpen(service);
  });

  test("is answered at once when the store has taken its alerts over, and each is sent once", async () => {
    await using service = await startDegraded();
    refuse(service, "b");
    const post = () => service.post([alertOf("a"), alertOf("b")]);
    expect((await post()).status).toBe(503);
    service.restoreStore();
    await service.advance(5_000);
    const before = service.second;
    expect(await post()).toMatchObject({
      status: 200,
      body: { alerts: [{ whatsapp: "sent" }, { whatsapp: "queued" }] },
    });
    expect(service.second).toBe(before);
    service.gateway.routes.send.scriptByBody = null;
    await service.advance(6 * MINUTE_MS, 5_000);
    expect(phone(service).toSorted()).toEqual(["a", "b"]);
  });

  test.each<[string, Scripted]>([
    ["its proxy answered 504", { accept: PROXY_504 }],
    ["the connection broke", { accept: "drop" }],
    ["it answered 500", { accept: { status: 500, json: {} } }],
  ])("what the gateway took although %s is looked up, and not sent again", async (_what, answer) => {
    await using service = await startDegraded();
    service.gateway.routes.send.next(answer);
    const first = await service.postOnly([alertOf("a")]);
    service.restoreStore();
    expect((await service.post([alertOf("a")])).status).toBe(200);
    expect((await first.answer).status).toBe(200);
    await service.advance(2 * MINUTE_MS);
    expect(phone(service)).toEqual(["a"]);
    await expectNothingOpen(service);
  });

  test("sends nothing twice that came with an alert whose result is unknown, while memory has to wait", async () => {
    await using service = await startDegraded();
    service.gateway.keepsMessages = false;
    service.gateway.routes.send.script = () => ({ accept: { status: 500, json: {} } });
    await service.post([alertOf("a")]);
    await service.advance(3 * MINUTE_MS);
    service.gateway.routes.send.script = null;
    service.gateway.routes.send.next("hang");
    await service.postOnly([alertOf("b")]);
    service.restoreStore();
    await service.advance(2_000);
    for (let times = 0; times < 2; times += 1)
      expect((await service.post([alertOf("a"), alertOf("c")])).status).toBe(503);
    await service.restart();
    await service.advance(3 * MINUTE_MS, 5_000);
    expect(phone(service).filter((name) => name === "c")).toEqual(["c"]);
  });

  test("three sends without a clear answer count: there is no fourth, and the result of the message is unknown", async () => {
    await using service = await startDegraded();
    service.gateway.keepsMessages = false;
    service.gateway.routes.send.script = () => ({ accept: { status: 500, json: {} } });
    expect((await service.post([alertOf("a")])).status).toBe(503);
    await service.advance(3 * MINUTE_MS);
    service.restoreStore();
    await service.advance(2_000);
    expect((await service.post([alertOf("a")])).status).toBe(200);
    await service.advance(5 * MINUTE_MS);
    expect(phone(service)).toEqual(["a", "a", "a"]);
    expect((await service.health()).message).toMatchObject({ queued: 0, unknown: 1 });
  });
});

describe("posts that wait for the gateway", () => {
  onFailingStores("what is on its way from memory is not sent from the store meanwhile", async (store) => {
    await using service = await startDegraded({ store, peerLimitMs: 1_000 });
    service.gateway.routes.send.next({ accept: "hang" });
    const { answer } = await service.postOnly([alertOf("a")]);
    const again = await service.postOnly([alertOf("a"), alertOf("b")]);
    expect(phone(service).toSorted()).toEqual(["a", "b"]);
    service.restoreStore();
    await service.advance(10_000);
    expect((await answer).status).toBe(200);
    expect((await again.answer).status).toBe(200);
    expect((await service.post([alertOf("c")])).status).toBe(200);
    await service.advance(3 * MINUTE_MS);
    expect(phone(service).toSorted()).toEqual(["a", "b", "c"]);
  });

  test("what waits for its turn in memory is sent by the store, at the same pace, and its post is answered", async () => {
    await using service = await startDegraded({ messagesPerMinute: 9 });
    const { answer } = await service.postOnly(["a", "b", "c", "d"].map((name) => alertOf(name)));
    expect(phone(service).toSorted()).toEqual(["a", "b"]);
    service.restoreStore();
    await service.advance(2_000);
    const { body } = await answer;
    expect(body).not.toHaveProperty("durable");
    expect(body.alerts.map(({ whatsapp }) => whatsapp)).toEqual(["sent", "sent", "queued", "queued"]);
    await service.advance(2 * MINUTE_MS);
    expect(phone(service).slice(2)).toEqual(["c", "d"]);
    const seconds = service.messages.slice(3).map(({ second }) => second);
    expect(seconds[0]!).toBeGreaterThanOrEqual(6);
    expect(seconds[1]! - seconds[0]!).toBeGreaterThanOrEqual(6);
    expect(service.tracker.issues).toHaveLength(4);
  });

  test("a restart does not forget the pace at which memory has sent", async () => {
    await using service = await startDegraded({ messagesPerMinute: 30 });
    const resolved = (names: string[]) => names.map((name) => alertOf(name, { status: "resolved" }));
    await service.post(resolved(["1", "2", "3", "4", "5", "6", "7", "8", "9"]));
    service.restoreStore();
    await service.advance(2_000);
    await service.restart();
    await service.post(resolved(["a", "b", "c", "d", "e"]));
    const { second } = service;
    await service.advance(1_000);
    expect(service.messages.filter((sent) => sent.second <= second).length).toBeLessThanOrEqual(12);
  });
});

describe("an issue", () => {
  const post = async (service: Service, name = "a") => (await service.post([alertOf(name)])).body.alerts[0]!;

  onFailingStores(
    "an issue that was created from memory is the one of the next firings, also after a restart",
    async (store) => {
      await using service = await startDegraded({ store });
      const [ofA, ofB] = [await post(service, "a"), await post(service, "b")];
      expect([ofA.issue, ofB.issue]).toEqual(["created", "created"]);
      service.restoreStore();
      await service.advance(10_000);
      const again = await post(service, "a");
      expect(again).not.toHaveProperty("durable");
      expect(again).toMatchObject({ issue: "duplicate", issueId: ofA.issueId });
      await service.restart();
      expect(await post(service, "b")).toMatchObject({ issue: "duplicate", issueId: ofB.issueId });
      await service.advance(MINUTE_MS);
      const { issues } = service.tracker;
      expect(issues).toHaveLength(2);
      expect(service.messages.at(-1)!.text).toContain(issues[1]!.url);
    },
  );

  test.each([
    ["does not come", "hang"],
    ["breaks off", "drop"],
  ] as const)("whose answer %s is the same one when the store keeps its alert", async (_what, fault) => {
    await using service = await startDegraded({ peerLimitMs: 1_000 });
    const { tracker } = service;
    tracker.routes.graphql.script = () => ({ accept: fault });
    expect(await post(service)).toMatchObject({ whatsapp: "sent", issue: "queued" });
    tracker.routes.graphql.script = null;
    service.restoreStore();
    await post(service);
    await service.advance(MINUTE_MS);
    expect(await post(service)).toMatchObject({ issue: "duplicate", issueId: tracker.issues[0]!.id });
    expect(tracker.issues).toHaveLength(1);
    await expectNothingOpen(service);
  });
});

describe("two hosts with one database", () => {
  testAnywhere(
    "the issue that one created from memory is known to the other, without another post to the first",
    async () => {
      await using one = await startDegraded({ store: "postgres" });
      const other = await one.another();
      const created = await one.post([alertOf("a")]);
      expect(created).toMatchObject({ body: { durable: false, alerts: [{ issue: "created" }] } });
      one.restoreStore();
      await one.advance(2_000);
      const again = await other.post([alertOf("a")]);
      const { issueId } = created.body.alerts[0]!;
      expect(again.body.alerts[0]).toMatchObject({ issue: "duplicate", issueId });
      await one.advance(MINUTE_MS);
      expect(one.tracker.issues).toHaveLength(1);
    },
  );

  testAnywhere(
    "a claim from memory is known to the other while what is in flight from memory has not ended",
    async () => {
      await using one = await startDegraded({ store: "postgres" });
      const other = await one.another();
      one.gateway.routes.send.next({ accept: "hang" });
      await one.postOnly([alertOf("a")]);
      one.restoreStore();
      await one.advance(2_000);
      expect((await other.post([alertOf("a")])).body.alerts[0]).toMatchObject({ issue: "duplicate" });
    },
  );

  testAnywhere(
    "what memory has when the host ends is taken over by the database, and sent by the other host",
    async () => {
      await using one = await startDegraded({ store: "postgres" });
      const other = await one.another();
      one.gateway.instances.set("ops", "close");
      await one.advance(MINUTE_MS, 20_000);
      const { answer } = await one.postOnly([alertOf("a")]);
      one.restoreStore();
      await one.end();
      expect(await answer).toMatchObject({ status: 200, body: { alerts: [{ whatsapp: "queued" }] } });
      one.gateway.instances.set("ops", "open");
      await other.advance(2 * MINUTE_MS, 5_000);
      expect(phone(other)).toEqual(["a"]);
    },
  );
});

testAnywhere(
  "a database that becomes unavailable while the gateway is asked for a message has it sent no second time",
  async () => {
    await using service = await startFailing({ store: "postgres" });
    service.gateway.routes.send.next({ accept: PROXY_504 });
    expect(await service.post([alertOf("a")])).toMatchObject({ body: { alerts: [{ whatsapp: "queued" }] } });
    service.gateway.routes.messages.script = () => {
      service.failStore();
      return undefined;
    };
    await service.advance(MINUTE_MS, 15_000);
    service.gateway.routes.messages.script = null;
    service.restoreStore();
    await service.advance(2 * MINUTE_MS);
    expect(phone(service)).toEqual(["a"]);
    await expectNothingOpen(service);
  },
);

onFailingStores("an issue is created once, however often the store is lost and back", async (store) => {
  await using service = await startFailing({ store });
  for (let times = 0; times < 3; times += 1) {
    await loseStore(service);
    const first = await service.post([alertOf("a")]);
    expect(first).toMatchObject({ status: 200, body: { alerts: [{ durable: false }] } });
    service.restoreStore();
    await service.advance(10_000, 1_000);
    const { body } = await service.post([alertOf("a")]);
    expect(body.alerts).toMatchObject([{ issue: "duplicate" }]);
    expect(body.alerts[0]?.durable).toBeUndefined();
  }
  expect(service.tracker.issues.filter(({ title }) => title.endsWith(" a"))).toHaveLength(1);
});
