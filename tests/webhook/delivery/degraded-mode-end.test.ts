/** The store keeps alerts again after degraded mode: nothing that was sent from memory is sent or made once more. */
import { describe, expect } from "bun:test";
import type { Scripted } from "../../standins/standin.ts";
import { requires } from "../../support/requires.ts";
import { onFailingStores, phone, refuse, startDegraded, startFailing } from "../support/failing-store.ts";
import { alertOf, MINUTE_MS, type Service } from "../support/start-service.ts";

const { test } = requires("mount");

const PROXY_504: Scripted = { status: 504, text: "Gateway Timeout" };

/** Nothing waits, is dead or unknown. */
async function expectNothingOpen(service: Service): Promise<void> {
  const { message, issue } = await service.health();
  const nothing = { queued: 0, dead: 0, inDoubt: 0 };
  expect([message, issue]).toMatchObject([nothing, nothing]);
}

describe("a post that comes again", () => {
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
    await service.advance(2 * MINUTE_MS);
    expect(phone(service).toSorted()).toEqual(["a", "b", "c"]);
    await expectNothingOpen(service);
  });

  test.each<[string, Scripted]>([
    ["its proxy answered 504", { accept: PROXY_504 }],
    ["the connection broke", { accept: "drop" }],
    ["it answered 500", { accept: { status: 500, json: {} } }],
  ])("what the gateway took although %s is looked for, and not sent again", async (_what, answer) => {
    await using service = await startDegraded();
    service.gateway.routes.send.next(answer);
    expect((await service.post([alertOf("a")])).status).toBe(503);
    service.restoreStore();
    expect((await service.post([alertOf("a")])).status).toBe(200);
    await service.advance(2 * MINUTE_MS);
    expect(phone(service)).toEqual(["a"]);
    await expectNothingOpen(service);
  });

  test("three sends without a clear answer count: there is no fourth, and the result of the message is unknown", async () => {
    await using service = await startDegraded();
    service.gateway.keepsMessages = false;
    service.gateway.routes.send.script = () => ({ accept: { status: 500, json: {} } });
    for (let posts = 0; posts < 3; posts += 1) {
      expect((await service.post([alertOf("a")])).status).toBe(503);
      await service.advance(MINUTE_MS);
    }
    service.restoreStore();
    expect((await service.post([alertOf("a")])).status).toBe(200);
    await service.advance(5 * MINUTE_MS);
    expect(phone(service)).toEqual(["a", "a", "a"]);
    expect((await service.health()).message).toMatchObject({ queued: 0, inDoubt: 1 });
  });

  test("what waits until it can be looked for is left to the store: its post is answered at once", async () => {
    await using service = await startDegraded();
    service.gateway.routes.send.next({ accept: PROXY_504 });
    expect((await service.post([alertOf("a")])).status).toBe(503);
    const { answer } = await service.postOnly([alertOf("a")]);
    service.restoreStore();
    const before = service.second;
    expect((await service.post([alertOf("a")])).status).toBe(200);
    expect((await answer).status).toBe(200);
    expect(service.second).toBe(before);
    await service.advance(2 * MINUTE_MS);
    expect(phone(service)).toEqual(["a"]);
    await expectNothingOpen(service);
  });
});

describe("posts that wait for the gateway", () => {
  onFailingStores("what is on its way from memory is not sent from the store meanwhile", async (store) => {
    await using service = await startDegraded({ store });
    service.gateway.routes.send.next({ accept: "hang" });
    const { answer } = await service.postOnly([alertOf("a")]);
    expect(phone(service)).toEqual(["a"]);
    service.restoreStore();
    await service.advance(10_000);
    expect((await service.post(["a", "b", "c"].map((name) => alertOf(name)))).status).toBe(200);
    expect((await answer).status).toBe(200);
    await service.advance(2 * MINUTE_MS);
    expect(phone(service).toSorted()).toEqual(["a", "b", "c"]);
  });

  test.each([
    ["with others", ["c", "d"]],
    ["alone", ["c"]],
  ])("what waits for its turn in memory is sent by the store: posted again %s", async (_what, again) => {
    await using service = await startDegraded({ messagesPerMinute: 9 });
    const { answer } = await service.postOnly(["a", "b", "c"].map((name) => alertOf(name)));
    expect(phone(service).toSorted()).toEqual(["a", "b"]);
    service.restoreStore();
    expect((await service.post(again.map((name) => alertOf(name)))).status).toBe(200);
    expect((await answer).status).toBe(200);
    await service.advance(2 * MINUTE_MS);
    expect(phone(service).toSorted()).toEqual(["a", "b", ...again]);
    expect(service.tracker.issues).toHaveLength(2 + again.length);
  });
});

describe("an issue", () => {
  const post = async (service: Service, name = "a") => (await service.post([alertOf(name)])).body.alerts[0]!;

  onFailingStores(
    "an issue that was made from memory is the one of the next firings, also after a restart",
    async (store) => {
      await using service = await startDegraded({ store });
      const [ofA, ofB] = [await post(service, "a"), await post(service, "b")];
      expect([ofA.issue, ofB.issue]).toEqual(["created", "created"]);
      service.restoreStore();
      await service.advance(10_000);
      // With the first one that is kept the store learns of both.
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
    await using service = await startDegraded();
    const { tracker } = service;
    tracker.routes.graphql.script = () => ({ accept: fault });
    expect(await post(service)).toMatchObject({ whatsapp: "sent", issue: "failed" });
    tracker.routes.graphql.script = null;
    service.restoreStore();
    await post(service);
    await service.advance(MINUTE_MS);
    expect(await post(service)).toMatchObject({ issue: "duplicate", issueId: tracker.issues[0]!.id });
    expect(tracker.issues).toHaveLength(1);
    await expectNothingOpen(service);
  });
});

test("a database that goes away while the gateway is asked for a message has it sent no second time", async () => {
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
});
