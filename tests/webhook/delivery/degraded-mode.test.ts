/** Degraded mode: alerts that the store cannot keep are sent from memory, as senders, phone and tracker see it. */
import { describe as describeBoth, expect } from "bun:test";
import { requires } from "../../support/requires.ts";
import {
  alertWith,
  loseStore,
  onFailingStores,
  phone,
  refuse,
  startDegraded,
  startFailing,
} from "../support/failing-store.ts";
import { TOKEN } from "../support/settings.ts";
import { alertOf, MINUTE_MS, type Service } from "../support/start-service.ts";
import { critical, mails, setGateway } from "../support/two-channels.ts";

// The rules of degraded mode are those of the service; a full disk is the failing store that costs least time.
const { test, describe } = requires("mount");

const SENT = { status: 200, body: { durable: false } };
const NOT_ALL_SENT = { status: 503, body: { error: { code: "state_unavailable" } } };
const BAD_GATEWAY = { status: 502, text: "Bad Gateway" };
const GATEWAY_TIMEOUT = { status: 504, text: "Gateway Timeout" };

/** For this long a post waits at most, and a second for the step of the clock. */
const LONGEST_S = 23;

const messagesLine = (service: Service) => service.log.map(({ msg }) => msg);

onFailingStores(
  "an alert that cannot be kept is sent and answered at once, also after a restart",
  async (store) => {
    await using service = await startFailing({ store });
    await loseStore(service);
    expect((await service.get("/readyz")).status).toBe(503);
    // What is on a full disk can still be read.
    const isRead = store === "sqlite";
    expect((await service.health()).status).toBe(isRead ? "ok" : "state_unavailable");
    expect(await service.metric("opsctl_webhook_state_unreadable")).toBe(isRead ? 0 : 1);
    expect(await service.post([alertOf("a"), alertOf("b", { status: "resolved" })])).toMatchObject({
      status: 200,
      body: {
        accepted: 2,
        durable: false,
        alerts: [
          { fingerprint: "a", whatsapp: "sent", issue: "created", durable: false },
          { fingerprint: "b", whatsapp: "sent", issue: "not_firing", durable: false },
        ],
      },
    });
    expect(phone(service).toSorted()).toEqual(["a", "b"]);
    expect(service.tracker.issues).toHaveLength(1);
    // With that by which the store was lost.
    expect(await service.metric("opsctl_webhook_degraded_sent_total")).toBe(3);
    expect(await service.metric("opsctl_webhook_alerts_accepted_total")).toBe(3);
    await service.restart();
    expect(await service.post([alertOf("c")])).toMatchObject(SENT);
    expect(phone(service).toSorted()).toEqual(["a", "b", "c"]);
    service.restoreStore();
    await service.advance(10_000);
    expect((await service.post([alertOf("d")])).body).not.toHaveProperty("durable");
    expect((await service.get("/readyz")).status).toBe(200);
    const lines = messagesLine(service);
    expect(lines.filter((msg) => msg.startsWith("Degraded mode: ")).length).toBeGreaterThan(0);
    expect(lines.filter((msg) => msg.startsWith("Degraded mode is over"))).toHaveLength(1);
    expect(lines.filter((msg) => msg.includes("lost with this process"))).toEqual([]);
  },
);

describe("a post that is repeated because one of its alerts was not sent", () => {
  test.each([
    [29, 1],
    [32, 2],
  ])("after %d minutes what was sent is on the phone %d times", async (minutes, times) => {
    await using service = await startDegraded();
    refuse(service, "bad");
    const post = () => service.post([alertOf("good"), alertOf("bad")]);
    expect(await post()).toMatchObject(NOT_ALL_SENT);
    expect(await post()).toMatchObject(NOT_ALL_SENT);
    service.gateway.routes.send.scriptByBody = null;
    await service.advance(minutes * MINUTE_MS, 10_000);
    // It was tried again meanwhile, without another post.
    expect(phone(service).toSorted()).toEqual(["bad", "good"]);
    expect(await post()).toMatchObject(SENT);
    expect(phone(service).toSorted()).toEqual([...Array(times).fill("bad"), ...Array(times).fill("good")]);
    // Its post has an answer now: one more is another notification.
    expect(await service.post([alertOf("good")])).toMatchObject(SENT);
    expect(phone(service).filter((name) => name === "good")).toHaveLength(times + 1);
  });
});

/** Three messages at once, then one in seven and a half seconds. */
const SLOW = { messagesPerMinute: 8 };

async function useUpBurst(service: Service): Promise<void> {
  const posts = ["1", "2"].map((name) => alertOf(name, { status: "resolved" }));
  expect(await service.post(posts)).toMatchObject(SENT);
}

describe("the messages", () => {
  test("posts that wait together send one message for each alert", async () => {
    await using service = await startDegraded(SLOW);
    await useUpBurst(service);
    const posts = [service.post([alertOf("a")]), service.post([alertOf("a"), alertOf("a")])];
    expect(await Promise.all(posts)).toMatchObject([SENT, SENT]);
    expect(phone(service).filter((name) => name === "a")).toHaveLength(1);
    expect(service.tracker.issues).toHaveLength(1);
  });

  test("a firing, its end and another firing are three messages in their order, with one issue", async () => {
    await using service = await startDegraded();
    const end = { status: "resolved", endsAt: "2026-11-16T14:00:00Z" };
    const later = { startsAt: "2026-11-16T14:10:00Z" };
    const { body } = await service.post([alertOf("a"), alertOf("a", end), alertOf("a", later)]);
    expect(body.alerts.map(({ issue }) => issue)).toEqual(["created", "not_firing", "duplicate"]);
    expect(service.messages.slice(1).map(({ text }) => [...text][0])).toEqual(["🟡", "✅", "🟡"]);
    expect(service.tracker.issues).toHaveLength(1);
  });

  test("go at the pace, the most urgent first; a post that waits for 22 seconds gets 503, and its alerts are sent later, once", async () => {
    await using service = await startDegraded({ messagesPerMinute: 9 });
    await useUpBurst(service);
    const before = service.messages.length;
    const severities = ["warning", "info", "critical", "high", "warning"];
    const alerts = severities.map((severity, at) => alertWith(`${severity}-${at}`, severity));
    const statuses = (await Promise.all(alerts.map((alert) => service.post([alert])))).map(
      ({ status }) => status,
    );
    expect(statuses).toEqual([200, 503, 200, 200, 503]);
    await service.advance(MINUTE_MS);
    const sent = service.messages.slice(before);
    const order = ["critical-2", "high-3", "warning-0", "warning-4", "info-1"];
    expect(sent.map(({ name }) => name)).toEqual(order);
    const seconds = sent.map(({ second }) => second);
    for (const [at, second] of seconds.slice(1).entries())
      expect(second - seconds[at]!).toBeGreaterThanOrEqual(6);
    expect(await service.post([alerts[1]])).toMatchObject(SENT);
    expect(service.messages.slice(before)).toHaveLength(5);
  });

  test("are told together in a flood", async () => {
    await using service = await startDegraded({ messagesPerMinute: 30, digestAfterSeconds: 20 });
    const alerts = Array.from({ length: 100 }, (_, at) => alertOf(`a${at}`, { status: "resolved" }));
    expect(await service.post(alerts)).toMatchObject(SENT);
    expect(service.messages.length).toBeLessThan(10);
    const texts = service.messages.map(({ text }) => text).join("\n");
    for (let at = 0; at < 100; at += 1) expect(texts).toContain(`a${at}`);
  });

  test("are not tried while the phone is away: their post gets 503 within 25 seconds", async () => {
    await using service = await startDegraded();
    service.gateway.instances.set("ops", "close");
    await service.advance(MINUTE_MS);
    const [before, sends] = [service.second, service.sends.length];
    expect(await service.post([alertOf("a")])).toMatchObject(NOT_ALL_SENT);
    expect(service.second - before).toBeLessThanOrEqual(LONGEST_S);
    expect(service.sends).toHaveLength(sends);
    service.gateway.instances.set("ops", "open");
    expect(await service.post([alertOf("a")])).toMatchObject(SENT);
    expect(phone(service)).toEqual(["a"]);
  });

  test("a large post that takes too long at the pace gets 200 when it is repeated, and each alert is sent once", async () => {
    await using service = await startDegraded({ messagesPerMinute: 60 });
    const alerts = Array.from({ length: 50 }, (_, at) => alertOf(`a${at}`));
    const statuses = [];
    for (let posts = 0; posts < 2; posts += 1) statuses.push((await service.post(alerts)).status);
    expect(statuses).toEqual([503, 200]);
    expect(new Set(phone(service)).size).toBe(50);
    expect([phone(service).length, service.tracker.issues.length]).toEqual([50, 50]);
  });

  test("a crowd of messages keeps no critical alert waiting", async () => {
    await using service = await startDegraded(SLOW);
    await useUpBurst(service);
    const crowd = await service.postOnly(Array.from({ length: 2_000 }, (_, at) => alertOf(`a${at}`)));
    expect(await service.post([alertWith("urgent", "critical")])).toMatchObject(SENT);
    expect(service.messages.at(3)!.name).toBe("urgent");
    expect(service.second).toBeLessThan(15);
    await service.advance(25_000);
    expect(await crowd.answer).toMatchObject(NOT_ALL_SENT);
  });

  test("more alerts than memory is meant for get 503, and leave room for a critical one", async () => {
    await using service = await startDegraded(SLOW);
    await useUpBurst(service);
    const resolved = { status: "resolved" };
    const flood = (prefix: string) =>
      Array.from({ length: 6_000 }, (_, at) => alertOf(`${prefix}${at}`, resolved));
    const first = await service.postOnly(flood("a"));
    const refused = await service.postOnly(flood("b"));
    expect(await refused.answer).toMatchObject(NOT_ALL_SENT);
    expect(await service.post([alertWith("urgent", "critical")])).toMatchObject(SENT);
    await service.advance(25_000);
    expect(await first.answer).toMatchObject(NOT_ALL_SENT);
  });
});

describe("an alert whose gateway takes it and", () => {
  test.each([
    { what: "a proxy answers 502", answer: BAD_GATEWAY, knownAfterS: 5 },
    { what: "a proxy answers 504", answer: GATEWAY_TIMEOUT, knownAfterS: 35 },
    { what: "the answer breaks off", answer: "drop", knownAfterS: 5 },
  ] as const)(
    "$what is looked up $knownAfterS seconds later, and what the gateway has is not sent again",
    async ({ answer, knownAfterS }) => {
      await using service = await startDegraded();
      service.gateway.routes.send.next({ accept: answer });
      const first = await service.postOnly([alertOf("a")]);
      // Others do not wait for the look-up.
      expect(await service.post([alertOf("b")])).toMatchObject(SENT);
      const sentAt = service.second;
      const isInTime = knownAfterS < 25;
      const again = service.post([alertOf("a")]);
      expect(await service.patiently(first.answer)).toMatchObject(isInTime ? SENT : NOT_ALL_SENT);
      expect(await again).toMatchObject(isInTime ? SENT : NOT_ALL_SENT);
      if (!isInTime) expect(await service.post([alertOf("a")])).toMatchObject(SENT);
      expect(service.lookUps[0]! - sentAt).toBeGreaterThanOrEqual(knownAfterS);
      expect(phone(service).toSorted()).toEqual(["a", "b"]);
    },
  );

  test("gives no clear answer is sent three times at most, and its post gets 503 each time", async () => {
    await using service = await startDegraded();
    const { gateway } = service;
    gateway.keepsMessages = false;
    gateway.routes.send.script = () => ({ accept: { status: 500, json: {} } });
    for (let posts = 1; posts <= 6; posts += 1) {
      expect(await service.post([alertOf("a")])).toMatchObject(NOT_ALL_SENT);
      await service.advance(MINUTE_MS);
    }
    const texts = service.messages.filter(({ name }) => name === "a").map(({ text }) => text);
    expect([texts.length, new Set(texts).size]).toEqual([3, 1]);
  });

  test("its proxy answers 502 is not sent again by a service that ends, which says that it is lost", async () => {
    await using service = await startDegraded();
    service.gateway.routes.send.next({ accept: BAD_GATEWAY });
    const { answer } = await service.postOnly([alertOf("a")]);
    await service.end();
    expect(await answer).toMatchObject(NOT_ALL_SENT);
    expect(phone(service)).toEqual(["a"]);
    expect(service.log.find(({ msg }) => msg.includes("lost with this process"))).toMatchObject({
      level: "error",
    });
  });
});

describeBoth("a gateway that takes nothing, too", () => {
  onFailingStores(
    "every post gets its 503 within 25 seconds, and each alert goes out later, exactly once",
    async (store) => {
      await using service = await startDegraded({ store, peerLimitMs: 200 });
      service.gateway.routes.send.script = () => "hang";
      const posts = Array.from({ length: 12 }, (_, at) => [alertOf(`a${at}`)]);
      const before = service.second;
      const answers = await Promise.all(posts.map((post) => service.post(post)));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]));
      expect(service.second - before).toBeLessThanOrEqual(LONGEST_S);
      service.gateway.routes.send.script = null;
      // A sender repeats what got 503: some posts before the store is back, some after that.
      await Promise.all(posts.slice(0, 4).map((post) => service.post(post)));
      service.restoreStore();
      await service.advance(10_000);
      const later = await Promise.all(posts.slice(4, 8).map((post) => service.post(post)));
      expect(new Set(later.map(({ status }) => status))).toEqual(new Set([200]));
      await service.advance(15 * MINUTE_MS, 5_000);
      expect(phone(service).toSorted()).toEqual(posts.map((_, at) => `a${at}`).toSorted());
      expect(service.tracker.issues).toHaveLength(12);
    },
  );

  onFailingStores("a critical alert goes out by the fallback e-mail", async (store) => {
    await using service = await startDegraded({ store, email: true });
    setGateway(service, "away");
    const before = service.second;
    expect((await service.post([critical("urgent")])).status).toBe(503);
    await service.advance(4 * MINUTE_MS, store === "postgres" ? 30_000 : 5_000);
    expect(mails(service).map(({ alerts }) => alerts)).toEqual([["urgent"]]);
    expect(mails(service)[0]!.second - before).toBeLessThanOrEqual(240);
  });
});

describe("the issue of an alert that cannot be kept", () => {
  const post = async (service: Service) => (await service.post([alertOf("a")])).body.alerts[0]!;

  test("is created once in 30 minutes", async () => {
    await using service = await startDegraded();
    const { issueId, issue } = await post(service);
    expect(issue).toBe("created");
    await service.advance(30 * MINUTE_MS - 1, MINUTE_MS);
    expect(await post(service)).toMatchObject({ issue: "duplicate", issueId });
    await service.advance(1);
    expect((await post(service)).issue).toBe("created");
    expect(service.tracker.issues).toHaveLength(2);
  });

  test("is not created where a full disk still shows the one before, whose link the message has", async () => {
    await using service = await startFailing();
    await post(service);
    await loseStore(service);
    expect((await post(service)).issue).toBe("duplicate");
    const { issues } = service.tracker;
    expect(issues).toHaveLength(1);
    expect(service.messages.at(-1)!.text).toContain(issues[0]!.url);
  });

  test("delays the answer by five seconds at most while the tracker gives none", async () => {
    await using service = await startDegraded();
    service.tracker.routes.graphql.script = () => "hang";
    const before = service.second;
    expect(await post(service)).toMatchObject({ whatsapp: "sent", issue: "queued" });
    expect(service.second - before).toBeLessThanOrEqual(6);
  });

  test.each(["drop", { status: 500, json: {} }, { accept: "drop" }] as const)(
    "is tried again after %j, and there is one",
    async (fault) => {
      await using service = await startDegraded();
      const { tracker } = service;
      tracker.routes.graphql.script = () => fault;
      expect(await post(service)).toMatchObject({ whatsapp: "sent", issue: "queued" });
      tracker.routes.graphql.script = null;
      await service.advance(MINUTE_MS);
      expect(tracker.issues).toHaveLength(1);
      expect(await post(service)).toMatchObject({ issue: "duplicate", issueId: tracker.issues[0]!.id });
    },
  );

  test("that the tracker refuses is refused in the answer, and the next firing tries again", async () => {
    await using service = await startDegraded({ token: "lin_api_wrong" });
    expect(await post(service)).toMatchObject({ whatsapp: "sent", issue: "refused" });
    await service.reload({ token: TOKEN });
    expect(await post(service)).toMatchObject({ issue: "created" });
  });
});
