/** What the service does with alerts, from the post to the peers' ledgers. */
import { afterEach, describe, expect, test } from "bun:test";
import { issueIdOf } from "../../../lib/webhook/delivery/attempts/issue-id.ts";
import { until } from "../../support/until.ts";
import { alertOf, PHONE, type Service, startService, TEAM } from "../support/service-fixture.ts";

let service: Service;
afterEach(async () => await service.stop());

const texts = () => service.gateway.accepted.map(({ text }) => text);
const titles = () => service.tracker.issues.map(({ title }) => title);
const queued = async () => {
  const { message, issue } = await service.state.stats();
  return message.queued + issue.queued;
};

describe("an alert that fires", () => {
  test("becomes a message, then an issue, and the answer says so", async () => {
    service = await startService();
    const { status, body } = await service.post({ alerts: [alertOf({ fingerprint: "abc" })] });
    expect(status).toBe(200);
    const [issue] = service.tracker.issues;
    expect(body).toEqual({
      accepted: 1,
      rejected: [],
      rejectedTotal: 0,
      alerts: [
        {
          alertname: "Traefik RAM Alta",
          status: "firing",
          squad: "infra",
          fingerprint: "abc",
          whatsapp: "sent",
          issue: "created",
          issueId: issue!.id,
        },
      ],
    });
    expect(service.gateway.accepted.map(({ number }) => number)).toEqual([PHONE]);
    expect(issue).toMatchObject({ title: "[ALERTA][infra] Traefik RAM Alta", teamId: TEAM });
    expect(service.gateway.accepted[0]!.at.getTime()).toBeLessThanOrEqual(issue!.at.getTime());
  });

  test("again within 30 minutes sends a message with the issue's link, and makes no second issue", async () => {
    service = await startService();
    await service.post({ alerts: [alertOf({ fingerprint: "abc" })] });
    service.advance(29 * 60_000);
    const { body } = await service.post({ alerts: [alertOf({ fingerprint: "abc" })] });
    expect(body.alerts[0]).toMatchObject({
      whatsapp: "sent",
      issue: "duplicate",
      issueId: service.tracker.issues[0]!.id,
    });
    expect(texts()).toHaveLength(2);
    expect(titles()).toHaveLength(1);
    expect(texts()[0]).not.toContain(service.tracker.issues[0]!.url);
    expect(texts()[1]).toContain(service.tracker.issues[0]!.url);
  });

  test("every ten minutes for 70 minutes makes an issue at 0, 30 and 60", async () => {
    service = await startService();
    const outcomes: string[] = [];
    for (let minute = 0; minute <= 70; minute += 10) {
      const { body } = await service.post({ alerts: [alertOf({ fingerprint: "abc" })] });
      outcomes.push(body.alerts[0]!.issue);
      service.advance(10 * 60_000);
    }
    const [first, again] = ["created", "duplicate"];
    expect(outcomes).toEqual([first, again, again, first, again, again, first, again] as string[]);
    expect(new Set(service.tracker.issues.map(({ id }) => id)).size).toBe(3);
  });

  test("twenty times at once makes twenty messages and one issue", async () => {
    service = await startService();
    const posts = Array.from({ length: 20 }, () =>
      service.post({ alerts: [alertOf({ fingerprint: "abc" })] }),
    );
    const answers = await Promise.all(posts);
    expect(answers.filter(({ body }) => body.alerts[0]!.issue !== "duplicate")).toHaveLength(1);
    await until("everything is out", async () => (await queued()) === 0);
    expect(texts()).toHaveLength(20);
    expect(titles()).toHaveLength(1);
  });
});

describe("what does not fire", () => {
  test("resolved, an unknown status and none get a message and no issue", async () => {
    service = await startService();
    const statuses = ["resolved", "Firing", "", undefined, "suppressed"];
    for (const status of statuses) {
      const { body } = await service.post({ alerts: [alertOf({ status })] });
      expect(body.alerts[0]!.issue).toBe("not_firing");
    }
    expect(texts()).toHaveLength(statuses.length);
    expect(titles()).toEqual([]);
  });

  test("resolved leaves the dedup alone", async () => {
    service = await startService();
    for (const status of ["firing", "resolved", "firing"])
      await service.post({ alerts: [alertOf({ status, fingerprint: "abc" })] });
    expect(texts()).toHaveLength(3);
    expect(titles()).toHaveLength(1);
  });

  test("statuses of one array are told apart, in order, and a bad entry loses none of the others", async () => {
    service = await startService();
    const { body } = await service.post({
      status: "firing",
      alerts: [
        alertOf(),
        7,
        alertOf({ status: "resolved" }),
        alertOf({ labels: { ruleGroup: "vps-security" } }),
      ],
    });
    expect(body.accepted).toBe(3);
    expect(body.rejected.map(({ index }) => index)).toEqual([1]);
    expect(body.alerts.map(({ issue }) => issue)).toEqual(["created", "not_firing", "created"]);
    expect(body.alerts.map(({ squad }) => squad)).toEqual(["infra", "infra", "security"]);
  });

  test("no alerts are nothing at all", async () => {
    service = await startService();
    expect((await service.post({ alerts: [] })).body).toEqual({
      accepted: 0,
      rejected: [],
      rejectedTotal: 0,
      alerts: [],
    });
    expect(texts()).toEqual([]);
  });
});

describe("a gateway in trouble", () => {
  test("that is down delays the message and not the issue; when it is back, all are sent in order", async () => {
    service = await startService();
    service.gateway.routes.send.script = () => ({ status: 502, text: "Bad Gateway" });
    const first = alertOf({ fingerprint: "abc", annotations: { summary: "primeiro" } });
    const { body } = await service.post({ alerts: [first] });
    expect(body.alerts[0]).toMatchObject({ whatsapp: "queued" });
    // Not taken from the answer: on a busy machine it may be given before the tracker has answered.
    await until("the issue is made", () => titles().length === 1);
    expect(texts()).toEqual([]);
    await service.post({ alerts: [{ ...first, annotations: { summary: "segundo" } }] });
    await service.post({ alerts: [{ ...first, status: "resolved", annotations: { summary: "terceiro" } }] });
    service.gateway.routes.send.script = null;
    service.advance(60_000);
    await until("all three are sent", async () => {
      service.advance(1_000);
      return texts().length === 3;
    });
    expect(texts().map((text) => /primeiro|segundo|terceiro/.exec(text)?.[0])).toEqual([
      "primeiro",
      "segundo",
      "terceiro",
    ]);
    expect(titles()).toHaveLength(1);
  });

  test("that hangs makes no answer wait longer than five seconds, and blocks no other request for that long", async () => {
    service = await startService({ isHasty: true, timeoutMs: 1_500 });
    service.gateway.routes.send.next("hang");
    const { body } = await service.post({ alerts: [alertOf()] });
    expect(body.alerts[0]!.whatsapp).toBe("queued");
    await until("the issue is there", () => titles().length === 1);
  });

  test("that refuses the key holds the queue, burns nothing and sends all when it takes us again", async () => {
    service = await startService();
    const refusal = {
      status: 401,
      json: { status: 401, error: "Unauthorized", response: { message: "Unauthorized" } },
    };
    service.gateway.routes.send.script = () => refusal;
    for (let i = 0; i < 5; i += 1) await service.post({ alerts: [alertOf()] });
    await until("the key was refused several times", async () => {
      service.pass(3_600_000);
      return service.gateway.routes.send.calls.length >= 12;
    });
    expect((await service.state.stats()).message).toMatchObject({ queued: 5, dead: 0 });
    expect(titles()).toHaveLength(5);
    service.gateway.routes.send.script = null;
    await until("all are sent", () => texts().length === 5);
  });

  test("is given up after 24 hours, and the row can be revived", async () => {
    service = await startService();
    service.gateway.routes.send.script = () => ({ status: 502, text: "Bad Gateway" });
    await service.post({ alerts: [alertOf({ status: "resolved" })] });
    await until("it is dead", async () => {
      service.pass(3_600_000);
      return (await service.state.stats()).message.dead === 1;
    });
    const [row] = await service.state.listDead();
    expect(row).toMatchObject({ kind: "message", alertname: "Traefik RAM Alta", code: "gateway_http_502" });
    service.gateway.routes.send.script = null;
    expect(await service.state.retryDead([row!.id])).toBe(1);
    await until("it is sent", () => texts().length === 1);
  });
});

describe("a tracker in trouble", () => {
  test("that refuses for good gives the claim back: the next firing tries again", async () => {
    service = await startService();
    service.tracker.routes.graphql.next({
      status: 400,
      json: { errors: [{ message: "no team", extensions: { type: "invalid input", code: "INPUT_ERROR" } }] },
    });
    const first = await service.post({ alerts: [alertOf({ fingerprint: "abc" })] });
    expect(first.body.alerts[0]).toMatchObject({ whatsapp: "sent", issue: "refused" });
    const second = await service.post({ alerts: [alertOf({ fingerprint: "abc" })] });
    expect(second.body.alerts[0]!.issue).toBe("created");
    expect(titles()).toHaveLength(1);
  });

  test("that reports errors with status 200 has created nothing", async () => {
    service = await startService();
    service.tracker.routes.graphql.next({
      status: 200,
      json: {
        data: null,
        errors: [
          { message: "x", extensions: { type: "authentication error", code: "AUTHENTICATION_ERROR" } },
        ],
      },
    });
    const { body } = await service.post({ alerts: [alertOf({ fingerprint: "abc" })] });
    expect(body.alerts[0]!.issue).toBe("refused");
    expect((await service.post({ alerts: [alertOf({ fingerprint: "abc" })] })).body.alerts[0]!.issue).toBe(
      "created",
    );
  });

  test("that creates the issue and drops the connection has one issue in the end", async () => {
    service = await startService();
    service.tracker.routes.graphql.next({ accept: "drop" });
    await service.post({ alerts: [alertOf({ fingerprint: "abc" })] });
    await until("it is settled", async () => {
      service.advance(1_000);
      return (await queued()) === 0;
    });
    expect(titles()).toHaveLength(1);
    expect((await service.state.latest("abc")).issue).toMatchObject({ status: "delivered" });
  });

  test("that is away for an hour gets each issue once, with the id of its own claim", async () => {
    service = await startService();
    service.tracker.routes.graphql.script = () => "drop_unread";
    const { body } = await service.post({ alerts: [alertOf({ fingerprint: "abc" })] });
    expect(body.alerts[0]).toMatchObject({ whatsapp: "sent", issue: "queued" });
    service.advance(3_600_000);
    await service.post({ alerts: [alertOf({ fingerprint: "abc" })] });
    service.tracker.routes.graphql.script = null;
    await until("both are created", async () => {
      service.advance(1_000);
      return titles().length === 2;
    });
    expect(new Set(service.tracker.issues.map(({ id }) => id)).size).toBe(2);
    expect(service.tracker.issues.map(({ id }) => id)).not.toContain(issueIdOf("abc", 0));
  });
});

describe("a post with several alerts of one fingerprint", () => {
  test.each([
    ["firing", "firing", "duplicate"],
    ["firing", "resolved", "not_firing"],
  ])("%s and %s says that the issue was created, and by which alert", async (first, second, issue) => {
    service = await startService();
    service.gateway.latencyMs = 20;
    const alerts = [first, second, second].map((status) => alertOf({ fingerprint: "abc", status }));
    const { body } = await service.post({ alerts });
    expect(body.alerts.map((answer) => answer.issue)).toEqual(["created", issue, issue] as never);
    expect(titles()).toHaveLength(1);
  });
});

describe("many alerts", () => {
  test("200 in one call are all sent, and neither they nor the next call wait for that", async () => {
    service = await startService({ isHasty: true });
    service.gateway.latencyMs = 20;
    const { body } = await service.post({
      alerts: Array.from({ length: 200 }, () => alertOf({ status: "resolved" })),
    });
    expect(body.accepted).toBe(200);
    expect(body.alerts.filter(({ whatsapp }) => whatsapp === "queued").length).toBeGreaterThan(100);
    expect((await service.post({ alerts: [alertOf({ status: "resolved" })] })).status).toBe(200);
    await until("all are sent", () => texts().length === 201);
    await until("all is recorded", async () => (await queued()) === 0);
    expect(texts()).toHaveLength(201);
  });

  test("critical ones go first when messages have to wait", async () => {
    service = await startService({ messagesPerMinute: 30 });
    const of = (severity: string, i: number) =>
      alertOf({ status: "resolved", labels: { severity }, annotations: { summary: `${severity}-${i}` } });
    await service.post({ alerts: Array.from({ length: 14 }, (_, i) => of("warning", i)) });
    await service.post({ alerts: [of("critical", 0)] });
    await until("all are sent", () => texts().length === 15);
    const order = texts().map((text) => /(?:warning|critical)-\d+/.exec(text)?.[0]);
    expect(order.indexOf("critical-0")).toBeLessThanOrEqual(12);
  });
});

describe("a restart", () => {
  test("goes on with what was accepted and not delivered, and keeps the dedup", async () => {
    service = await startService();
    service.gateway.routes.send.script = () => "drop_unread";
    service.tracker.routes.graphql.script = () => "drop_unread";
    await service.post({ alerts: [alertOf({ fingerprint: "abc" })] });
    service.gateway.routes.send.script = null;
    service.tracker.routes.graphql.script = null;
    await service.restart();
    await until("both are out", async () => {
      service.advance(1_000);
      return texts().length >= 1 && titles().length === 1;
    });
    const { body } = await service.post({ alerts: [alertOf({ fingerprint: "abc" })] });
    expect(body.alerts[0]!.issue).toBe("duplicate");
    expect(titles()).toHaveLength(1);
  });
});
