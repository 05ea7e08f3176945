/** Several webhook hosts that share one state on PostgreSQL. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { startTcpProxy } from "../../standins/tcp-proxy.ts";
import { sharedPostgres, type TestDatabase } from "../../support/postgres.ts";
import { until } from "../../support/until.ts";
import { openWebhookArena, postAlerts } from "../support/serve.ts";

let db: TestDatabase;
// One each: the lease of a host that a test has killed would make the next one wait.
beforeEach(async () => {
  db = await (await sharedPostgres()).createDatabase();
});
afterEach(async () => await db.drop());

const alertOf = (fingerprint: string) => ({
  status: "firing",
  fingerprint,
  labels: { alertname: fingerprint, ruleGroup: "vps-security", severity: "high" },
});

describe("two opsctl webhook serve with OPSCTL_STATE_URL", () => {
  test("make one issue of each alert that reaches both, and a message of every one", async () => {
    await using arena = await openWebhookArena();
    const env = { OPSCTL_STATE_URL: db.url };
    const args = ["--messages-per-minute", "60000"];
    const hosts = [await arena.start({ env, args }), await arena.start({ env, args })];
    const names = Array.from({ length: 12 }, (_, i) => `both-${i}`);
    const posts = names.flatMap((name) =>
      hosts.map((host) => postAlerts(host.url, { alerts: [alertOf(name)] })),
    );
    const answers = await Promise.all(posts);
    expect(answers.map(({ status }) => status)).toEqual(posts.map(() => 200));
    await until(
      "all is out",
      () => arena.gateway.accepted.length === 24 && arena.tracker.issues.length === 12,
    );
    expect(new Set(arena.tracker.issues.map(({ title }) => title)).size).toBe(12);
  });

  test("deliver by one of them; when it is killed, the other goes on", async () => {
    await using arena = await openWebhookArena();
    const env = { OPSCTL_STATE_URL: db.url };
    const first = await arena.start({ env });
    const second = await arena.start({ env });
    const isLeader = async (url: string) =>
      /^opsctl_webhook_leader 1$/m.test(await (await fetch(`${url}/metrics`)).text());
    await until(
      "one of them leads",
      async () => (await isLeader(first.adminUrl)) || (await isLeader(second.adminUrl)),
    );
    const [leader, other] = (await isLeader(first.adminUrl)) ? [first, second] : [second, first];
    leader.kill("SIGKILL");
    await leader.ended;
    const { json } = await postAlerts(other.url, { alerts: [alertOf("after the kill")] });
    expect(json).toMatchObject({ accepted: 1 });
    // Its lease has to run out first, which takes fifteen seconds. What an earlier kill left unrecorded may come along.
    const isOut = () =>
      arena.gateway.accepted.some(({ text }) => text.includes("after the kill")) &&
      arena.tracker.issues.some(({ title }) => title.endsWith("after the kill"));
    await until("the other delivers", isOut);
  });

  test("start while the database is unavailable, send from memory, and store alerts once it is back", async () => {
    await using arena = await openWebhookArena();
    const relay = await startTcpProxy((await sharedPostgres()).port);
    relay.vanish();
    const url = new URL(db.url);
    url.port = String(relay.port);
    const service = await arena.start({ env: { OPSCTL_STATE_URL: url.href } });
    const post = async () => await postAlerts(service.url, { alerts: [alertOf("away")] });
    expect(await post()).toMatchObject({ status: 200, json: { durable: false } });
    expect(arena.gateway.accepted).toHaveLength(1);
    expect((await fetch(`${service.adminUrl}/readyz`)).status).toBe(503);
    relay.open();
    await until("alerts are kept", () => service.log().includes("Degraded mode is over"));
    expect((await fetch(`${service.adminUrl}/readyz`)).status).toBe(200);
    const kept = await post();
    expect(kept).toMatchObject({ status: 200, json: { accepted: 1 } });
    expect(kept.json).not.toHaveProperty("durable");
    await until("what was kept is out, too", () => arena.gateway.accepted.length === 2);
    service.kill("SIGTERM");
    await service.ended;
    await relay.stop();
  });

  test("an unavailable database stores no half of an alert, and the alert goes out from memory", async () => {
    await using arena = await openWebhookArena();
    const service = await arena.start({ env: { OPSCTL_STATE_URL: db.url } });
    await db.drop();
    // 503 while the database has just gone: what was on its way then may have been kept.
    let answer = await postAlerts(service.url, { alerts: [alertOf("lost?")] });
    if (answer.status === 503) answer = await postAlerts(service.url, { alerts: [alertOf("lost?")] });
    expect(answer).toMatchObject({ status: 200, json: { durable: false } });
    expect(arena.gateway.accepted).toHaveLength(1);
    expect((await fetch(`${service.adminUrl}/readyz`)).status).toBe(503);
  });
});
