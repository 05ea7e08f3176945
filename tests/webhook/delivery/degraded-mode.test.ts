/** Degraded mode: alerts that the store cannot keep are sent from memory, as senders, phone and tracker see it. */
import { expect } from "bun:test";
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
import { alertOf, MINUTE_MS, type Service, START_MS } from "../support/start-service.ts";

// The rules of degraded mode are those of the service; a full disk is the failing store that costs least time.
const { test, describe } = requires("mount");

const SENT = { status: 200, body: { durable: false } };
const NOT_ALL_SENT = { status: 503, body: { error: { code: "state_unavailable" } } };

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
    expect(await service.metric("opsctl_webhook_sent_from_memory_total")).toBe(3);
    expect(await service.metric("opsctl_webhook_alerts_accepted_total")).toBe(3);
    await service.restart();
    expect(await service.post([alertOf("c")])).toMatchObject(SENT);
    expect(phone(service).toSorted()).toEqual(["a", "b", "c"]);
    service.restoreStore();
    await service.advance(10_000);
    expect((await service.post([alertOf("d")])).body).not.toHaveProperty("durable");
    expect((await service.get("/readyz")).status).toBe(200);
    const lines = service.log.map(({ msg }) => msg);
    expect(lines.filter((msg) => msg.startsWith("Alerts are refused")).length).toBeGreaterThan(0);
    expect(lines).toContain("Alerts are accepted again");
  },
);

describe("a post of which the gateway refuses one alert", () => {
  test.each([
    [29, 1],
    [31, 2],
  ])(
    "gets 503; when it comes again %d minutes later, what the gateway took is on the phone %d times",
    async (minutes, times) => {
      await using service = await startDegraded();
      refuse(service, "bad");
      expect(await service.post([alertOf("good"), alertOf("bad")])).toMatchObject(NOT_ALL_SENT);
      service.gateway.routes.send.scriptByBody = null;
      await service.advance(minutes * MINUTE_MS, MINUTE_MS);
      expect(await service.post([alertOf("good"), alertOf("bad")])).toMatchObject(SENT);
      expect(phone(service).toSorted()).toEqual(["bad", ...Array(times).fill("good")]);
      // Its post has an answer now: one more is another notification.
      expect(await service.post([alertOf("good")])).toMatchObject(SENT);
      expect(phone(service).filter((name) => name === "good")).toHaveLength(times + 1);
    },
  );
});

/** Four messages at once, then one in seven and a half seconds. */
const SLOW = { messagesPerMinute: 12 };

async function useUpBurst(service: Service): Promise<void> {
  const posts = ["1", "2", "3"].map((name) => alertOf(name, { status: "resolved" }));
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

  test("a firing, its end and another firing are three messages, with one issue", async () => {
    await using service = await startDegraded();
    const end = { status: "resolved", endsAt: "2026-11-16T14:00:00Z" };
    const later = { startsAt: "2026-11-16T14:10:00Z" };
    await service.post([alertOf("a"), alertOf("a", end), alertOf("a", later)]);
    expect(phone(service)).toHaveLength(3);
    expect(service.tracker.issues).toHaveLength(1);
  });

  test("go at the pace, the most urgent first; a post that waits for 25 seconds gets 503, and its alerts are not sent later", async () => {
    await using service = await startDegraded(SLOW);
    await useUpBurst(service);
    const before = service.messages.length;
    const severities = ["warning", "info", "critical", "high", "warning"];
    const posts = severities.map((severity, at) => service.post([alertWith(`${severity}-${at}`, severity)]));
    const statuses = (await Promise.all(posts)).map(({ status }) => status);
    expect(statuses).toEqual([200, 503, 200, 200, 503]);
    await service.advance(MINUTE_MS);
    const sent = service.messages.slice(before);
    expect(sent.map(({ name }) => name)).toEqual(["critical-2", "high-3", "warning-0"]);
    const seconds = sent.map(({ second }) => second);
    for (const [at, second] of seconds.slice(1).entries())
      expect(second - seconds[at]!).toBeGreaterThanOrEqual(7);
  });

  test("are not tried while the phone is away: their post gets 503 within 25 seconds", async () => {
    await using service = await startDegraded();
    service.gateway.instances.set("ops", "close");
    await service.advance(MINUTE_MS);
    const [before, sends] = [service.second, service.sends.length];
    expect(await service.post([alertOf("a")])).toMatchObject(NOT_ALL_SENT);
    expect(service.second - before).toBeLessThanOrEqual(26);
    expect(service.sends).toHaveLength(sends);
  });

  test("a large post goes out a part each time that it comes, until all of it has", async () => {
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
    expect(service.messages.at(4)!.name).toBe("urgent");
    expect(service.second).toBeLessThan(15);
    await service.advance(25_000);
    expect(await crowd.answer).toMatchObject(NOT_ALL_SENT);
  });
});

/** Posts that come two minutes apart, while each send may have arrived and the gateway shows no message. */
const MAYBE_SENT = [
  { what: "gives no clear answer", answer: { status: 500, json: {} }, sends: 3 },
  { what: "breaks off the connection", answer: "drop", sends: 3 },
  { what: "is behind a proxy that answers 504", answer: { status: 504, text: "Gateway Timeout" }, sends: 5 },
] as const;

describe("an alert whose gateway takes it and", () => {
  test.each(MAYBE_SENT)("$what is looked for before each send, $sends of five posts", async (row) => {
    await using service = await startDegraded();
    const { gateway } = service;
    gateway.keepsMessages = false;
    gateway.routes.send.script = () => ({ accept: row.answer });
    const { calls: questions } = gateway.routes.messages;
    for (let posts = 1; posts <= 5; posts += 1) {
      const asked = questions.length;
      expect(await service.post([alertOf("a")])).toMatchObject(NOT_ALL_SENT);
      expect(questions.length > asked).toBe(posts > 1);
      await service.advance(2 * MINUTE_MS, 10_000);
    }
    const texts = service.messages.filter(({ name }) => name === "a").map(({ text }) => text);
    expect([texts.length, new Set(texts).size]).toEqual([row.sends, 1]);
    gateway.keepsMessages = true;
    const { instance, number, text, id, at } = gateway.accepted.at(-1)!;
    gateway.kept.push({
      ...{ instance, text, id },
      remoteJid: `${number}@s.whatsapp.net`,
      sentAt: Math.floor(at.getTime() / 1_000),
    });
    expect(await service.post([alertOf("a")])).toMatchObject(SENT);
    expect(phone(service)).toHaveLength(row.sends);
  });

  test.each([
    { what: "a proxy answers 502", answer: { status: 502, text: "Bad Gateway" }, knownAfterS: 5 },
    { what: "a proxy answers 504", answer: { status: 504, text: "Gateway Timeout" }, knownAfterS: 35 },
    { what: "the answer breaks off", answer: "drop", knownAfterS: 5 },
  ] as const)(
    "$what is asked for it $knownAfterS seconds later, and what it has is not sent again",
    async ({ answer, knownAfterS }) => {
      await using service = await startDegraded();
      service.gateway.routes.send.next({ accept: answer });
      expect(await service.post([alertOf("a")])).toMatchObject(NOT_ALL_SENT);
      const sentAt = service.second;
      await service.advance(1_000);
      const again = service.post([alertOf("a")]);
      // Others do not wait for the question.
      expect(await service.post([alertOf("b")])).toMatchObject(SENT);
      const isInTime = knownAfterS < 25;
      expect(await again).toMatchObject(isInTime ? SENT : NOT_ALL_SENT);
      const { calls: questions } = service.gateway.routes.messages;
      if (!isInTime) {
        await service.advance(MINUTE_MS);
        expect(questions).toHaveLength(0);
        expect(await service.post([alertOf("a")])).toMatchObject(SENT);
      }
      const askedAt = (questions[0]!.at.getTime() - START_MS) / 1_000;
      expect(askedAt - sentAt).toBeGreaterThanOrEqual(knownAfterS);
      expect(phone(service).toSorted()).toEqual(["a", "b"]);
    },
  );

  test("its proxy answers 502 is not sent again by a service that ends", async () => {
    await using service = await startDegraded();
    service.gateway.routes.send.next({ accept: { status: 502, text: "Bad Gateway" } });
    await service.post([alertOf("a")]);
    const { answer } = await service.postOnly([alertOf("a")]);
    await service.end();
    expect(await answer).toMatchObject(NOT_ALL_SENT);
    expect(phone(service)).toEqual(["a"]);
  });
});

describe("the issue of an alert that cannot be kept", () => {
  const post = async (service: Service) => (await service.post([alertOf("a")])).body.alerts[0]!;

  test("is made once in 30 minutes", async () => {
    await using service = await startDegraded();
    const { issueId, issue } = await post(service);
    expect(issue).toBe("created");
    await service.advance(30 * MINUTE_MS - 1, MINUTE_MS);
    expect(await post(service)).toMatchObject({ issue: "duplicate", issueId });
    await service.advance(1);
    expect((await post(service)).issue).toBe("created");
    expect(service.tracker.issues).toHaveLength(2);
  });

  test("is not made where a full disk still shows the one before, whose link the message has", async () => {
    await using service = await startFailing();
    await post(service);
    await loseStore(service);
    expect((await post(service)).issue).toBe("duplicate");
    const { issues } = service.tracker;
    expect(issues).toHaveLength(1);
    expect(service.messages.at(-1)!.text).toContain(issues[0]!.url);
  });

  test("holds up no answer while the tracker gives none", async () => {
    await using service = await startDegraded();
    service.tracker.routes.graphql.script = () => "hang";
    const before = service.second;
    expect(await post(service)).toMatchObject({ whatsapp: "sent", issue: "failed" });
    expect(service.second - before).toBeLessThanOrEqual(25);
  });

  test.each(["drop", { status: 500, json: {} }, { accept: "drop" }] as const)(
    "is tried again by the next firing after %j, and there is one",
    async (fault) => {
      await using service = await startDegraded();
      const { tracker } = service;
      tracker.routes.graphql.script = () => fault;
      expect(await post(service)).toMatchObject({ whatsapp: "sent", issue: "failed" });
      tracker.routes.graphql.script = null;
      await service.advance(MINUTE_MS);
      expect(await post(service)).toMatchObject({ whatsapp: "sent", issue: "created" });
      expect(tracker.issues).toHaveLength(1);
    },
  );
});
