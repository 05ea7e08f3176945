/** What becomes of an alert while gateway and tracker are well: the answer, the message, the issue, the comment's link. */
import { expect, test } from "bun:test";
import { PHONE, TEAM } from "../support/settings.ts";
import { alertOf, onBothStores, startService } from "../support/start-service.ts";

test("a firing alert becomes a message, then an issue, and the answer says so", async () => {
  await using service = await startService();
  service.gateway.latencyMs = 50;
  const toldBefore: number[] = [];
  service.tracker.routes.graphql.script = () => void toldBefore.push(service.messages.length);
  const { status, body } = await service.post([alertOf("abc")]);
  expect([status, toldBefore]).toEqual([200, [1]]);
  const [issue] = service.tracker.issues;
  const answer = { alertname: "abc", status: "firing", squad: "infra", fingerprint: "abc" };
  expect(body).toEqual({
    ...{ accepted: 1, rejected: [], rejectedTotal: 0 },
    alerts: [{ ...answer, whatsapp: "sent", issue: "created", issueId: issue!.id }],
  });
  expect(service.gateway.accepted.map(({ number }) => number)).toEqual([PHONE]);
  expect(issue).toMatchObject({ title: "[ALERTA][infra] abc", teamId: TEAM });
});

/** The statuses of the alerts of one post, and what the answer says of their issues. */
const STATUSES = [
  { name: "resolved gets a message and no issue", statuses: ["resolved"], issues: ["not_firing"] },
  {
    name: "an unknown status, or none, gets a message and no issue",
    statuses: ["Firing", "", undefined, "suppressed"],
    issues: ["not_firing", "not_firing", "not_firing", "not_firing"],
  },
  {
    name: "alerts of one fingerprint in one post share one issue, and the answer says which made it",
    fingerprint: "same",
    statuses: ["firing", "firing", "resolved"],
    issues: ["created", "duplicate", "not_firing"],
  },
  {
    name: "a resolved alert leaves the 30 minutes of its issue as they are",
    fingerprint: "same",
    statuses: ["firing", "resolved", "firing"],
    issues: ["created", "not_firing", "duplicate"],
  },
];

onBothStores(STATUSES, async ({ statuses, issues, fingerprint }, store) => {
  await using service = await startService({ store });
  const { body } = await service.post(
    statuses.map((status) => alertOf({ status, ...(fingerprint && { fingerprint }) })),
  );
  // A database may take longer than a quick service: then the answer does not wait for what is over.
  const said = body.alerts.map(({ issue }) =>
    store === "postgres" && issue === "queued" ? "created" : issue,
  );
  expect(said as string[]).toEqual(issues);
  await service.advance(1_000);
  expect(service.messages).toHaveLength(statuses.length);
  expect(service.tracker.issues).toHaveLength(issues.filter((issue) => issue === "created").length);
});

test("a bad entry of a post loses none of the others, and no alerts are nothing at all", async () => {
  await using service = await startService();
  const security = { labels: { ruleGroup: "vps-security" } };
  const { body } = await service.post([alertOf(), 7, alertOf({ status: "resolved" }), alertOf(security)]);
  expect([body.accepted, body.rejected.map(({ index }) => index)]).toEqual([3, [1]]);
  expect(body.alerts.map(({ issue, squad }) => [issue, squad])).toEqual([
    ["created", "infra"],
    ["not_firing", "infra"],
    ["created", "security"],
  ]);
  expect((await service.post([])).body).toEqual({ accepted: 0, rejected: [], rejectedTotal: 0, alerts: [] });
  expect(service.messages).toHaveLength(3);
});

onBothStores(
  "an alert that cannot be sent at once delays neither its answer nor other posts",
  async (store) => {
    await using service = await startService({ store });
    service.gateway.routes.send.next("hang");
    const { answer } = await service.postOnly([alertOf("slow")]);
    expect((await service.post([alertOf("other")])).body.alerts[0]).toMatchObject({ whatsapp: "sent" });
    expect(service.second).toBe(0);
    let isAnswered = false;
    void answer.then(() => (isAnswered = true));
    await service.advance(4_999);
    expect(isAnswered).toBe(false);
    await service.advance(1);
    expect(isAnswered).toBe(true);
    expect((await answer).body.alerts[0]).toMatchObject({ whatsapp: "queued" });
    // The issue waits for its message for two seconds at most.
    expect(service.tracker.issues.map(({ title, at }) => [title, at.getTime() - service.nowMs])).toEqual([
      ["[ALERTA][infra] other", -5_000],
      ["[ALERTA][infra] slow", -3_000],
    ]);
  },
);

onBothStores(
  "many alerts of one post are all sent, and their answer does not wait for the pace",
  async (store) => {
    await using service = await startService({ store, messagesPerMinute: 600 });
    const alerts = Array.from({ length: 300 }, () => alertOf({ status: "resolved" }));
    const { body } = await service.post(alerts);
    expect(body.accepted).toBe(300);
    expect(service.second).toBeLessThanOrEqual(5);
    const sent = body.alerts.filter(({ whatsapp }) => whatsapp === "sent").length;
    expect(sent).toBeGreaterThan(0);
    expect(sent).toBeLessThan(300);
    await service.advance(60_000);
    expect(service.messages).toHaveLength(300);
    expect((await service.health()).message).toMatchObject({ queued: 0, dead: 0 });
  },
);

onBothStores(
  "posts of all sizes that come at once are all answered, and each alert is sent once",
  async (store) => {
    await using service = await startService({ store });
    const sizes = [1, 300, 2, 40, 260, 1, 3];
    const alerts = sizes.map((size, post) =>
      Array.from({ length: size }, (_each, at) => alertOf(`${post}-${at}`, { status: "resolved" })),
    );
    const answers = await Promise.all(alerts.map((each) => service.post(each)));
    expect(answers.map(({ body }) => body.accepted)).toEqual(sizes);
    await service.advance(60_000, 1_000);
    expect(new Set(service.messages.map(({ name }) => name)).size).toBe(607);
    expect(service.messages).toHaveLength(607);
  },
);
