/** `opsctl webhook` as a black box: service, test alert and dead rows. */
import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { request, speak } from "../../platform/support/raw-http.ts";
import { freePort } from "../../support/free-port.ts";
import { until } from "../../support/until.ts";
import { KEY, PHONE, SECRET, TOKEN } from "../../webhook/support/settings.ts";
import { type Ended, opsctl, startOpsctl } from "../support/opsctl.ts";
import { openWebhookArena, postAlerts, type WebhookArena } from "../support/serve.ts";

const ALERT = {
  status: "firing",
  fingerprint: "abc",
  labels: { alertname: "Disco Raiz Baixo", ruleGroup: "vps-infra", severity: "critical" },
  annotations: { summary: "canary-alert-text", description: "" },
};

/** Runs one of the commands beside the service. */
function beside(arena: WebhookArena, args: string[], env: Record<string, string> = {}): Promise<Ended> {
  return opsctl(args, { env: { ...arena.env, ...env } });
}

describe("opsctl webhook serve", () => {
  test("listens on the port of its settings, where webhook test finds it, with its admin port turned off", async () => {
    await using arena = await openWebhookArena();
    const port = await freePort();
    const env = { ...arena.env, WEBHOOK_PORT: `${port}`, WEBHOOK_ADMIN_PORT: "0" };
    const service = await startOpsctl(["webhook", "serve", "--host", "127.0.0.1"], { env });
    const sendTest = () =>
      beside(arena, ["webhook", "test", "--without-issue", "--json"], { WEBHOOK_PORT: `${port}` });
    await until("the service takes the test alert", async () => (await sendTest()).exitCode === 0);
    service.kill("SIGTERM");
    expect((await service.ended).exitCode).toBe(0);
    expect((await sendTest()).exitCode).toBe(1);
  });

  test("takes an alert, delivers it, shows it in its metrics, and ends with 0 on SIGTERM", async () => {
    await using arena = await openWebhookArena();
    const service = await arena.start();
    const { status, json } = await postAlerts(service.url, { alerts: [ALERT] });
    expect(status).toBe(200);
    expect(json).toMatchObject({
      accepted: 1,
      alerts: [{ whatsapp: "sent", issue: "created", squad: "infra" }],
    });
    expect(arena.gateway.accepted.map(({ number }) => number)).toEqual([PHONE]);
    expect(arena.tracker.issues.map(({ title }) => title)).toEqual(["[ALERTA][infra] Disco Raiz Baixo"]);

    const metrics = await (await fetch(`${service.adminUrl}/metrics`)).text();
    expect(metrics).toMatch(/^opsctl_webhook_alerts_accepted_total 1$/m);
    expect((await fetch(`${service.adminUrl}/healthz`)).status).toBe(200);
    expect((await fetch(`${service.adminUrl}/readyz`)).status).toBe(200);
    const elsewhere = request("GET /metrics", ["Host: alerts.example.com"])
      .toString()
      .replace("Host: localhost\r\n", "");
    expect((await speak(Number(new URL(service.adminUrl).port), [elsewhere])).status).toBe(421);
    expect((await fetch(service.url.replace("/webhook", "/metrics"))).status).toBe(404);

    service.kill("SIGTERM");
    const { exitCode, stdout } = await service.ended;
    expect([exitCode, stdout]).toEqual([0, ""]);
  });

  test("a second SIGTERM cuts off no post in flight", async () => {
    await using arena = await openWebhookArena();
    arena.gateway.latencyMs = 1_500;
    const service = await arena.start();
    const answer = postAlerts(service.url, { alerts: [ALERT] });
    await until("the message is on its way", () => arena.gateway.routes.send.calls.length === 1);
    service.kill("SIGTERM");
    await until("the service stops", () => service.log().includes("A signal asked the service to end"));
    service.kill("SIGTERM");
    expect(await answer).toMatchObject({ status: 200, json: { alerts: [{ whatsapp: "sent" }] } });
    expect((await service.ended).exitCode).toBe(0);
  });

  test("is killed and goes on: the next process delivers an accepted alert, and creates no second issue", async () => {
    await using arena = await openWebhookArena();
    arena.gateway.routes.send.script = () => ({ status: 502, text: "Bad Gateway" });
    const first = await arena.start();
    const { json } = await postAlerts(first.url, { alerts: [ALERT] });
    expect(json).toMatchObject({ alerts: [{ whatsapp: "queued" }] });
    await until("the issue is there", () => arena.tracker.issues.length === 1);
    first.kill("SIGKILL");
    await first.ended;
    arena.gateway.routes.send.script = null;
    const second = await arena.start();
    await until("the message is sent", () => arena.gateway.accepted.length === 1);
    expect((await postAlerts(second.url, { alerts: [ALERT] })).json).toMatchObject({
      alerts: [{ issue: "duplicate" }],
    });
    expect(arena.tracker.issues).toHaveLength(1);
  });

  test("starts and accepts while every external service is down", async () => {
    await using arena = await openWebhookArena();
    const env = { MESSAGING_API_URL: "http://127.0.0.1:1", ISSUE_TRACKER_URL: "http://127.0.0.1:1/graphql" };
    const service = await arena.start({ env });
    const { status, json } = await postAlerts(service.url, { alerts: [ALERT] });
    expect([status, json]).toMatchObject([200, { alerts: [{ whatsapp: "queued", issue: "queued" }] }]);
  });
});

describe("opsctl webhook serve whose alert ends, or whose phone is not paired", () => {
  test("comments on an issue when its alert resolves, and shows both on its page", async () => {
    await using arena = await openWebhookArena();
    const service = await arena.start({ env: { ISSUE_TRACKER_COMMENTS: "1" } });
    for (const status of ["firing", "resolved"])
      await postAlerts(service.url, { alerts: [{ ...ALERT, status, startsAt: "2026-03-02T08:15:30Z" }] });
    await until("the comment is there", () => arena.tracker.comments.length === 1);
    expect(arena.tracker.comments[0]!.issueId).toBe(arena.tracker.issues[0]!.id);
    const page = await fetch(`${service.adminUrl}/`);
    expect([page.status, page.headers.get("cache-control")]).toEqual([200, "no-store"]);
    const text = await page.text();
    for (const shown of ["Tudo em ordem", "Disco Raiz Baixo", "resolvido", "ENG-1"])
      expect(text).toContain(shown);
    for (const canary of [SECRET, TOKEN, KEY, PHONE]) expect(text).not.toContain(canary);
  });

  test("names a phone that is not paired, waits for it, and sends what has waited", async () => {
    await using arena = await openWebhookArena();
    arena.gateway.instances.set("ops", "close");
    const service = await arena.start();
    const { json } = await postAlerts(service.url, { alerts: [ALERT] });
    expect(json).toMatchObject({ alerts: [{ whatsapp: "queued", issue: "created" }] });
    const health = await (await fetch(`${service.adminUrl}/healthz`)).json();
    expect(health).toMatchObject({ status: "ok", paused: { message: "sem_instancia_gateway", issue: null } });
    const told = { kind: "message", code: "sem_instancia_gateway", cause: "instance_close" };
    const lines = service
      .log()
      .split("\n")
      .filter((line) => line.includes("Sending paused"));
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ level: "error", ...told }]);
    arena.gateway.instances.set("ops", "open");
    await until("the message is sent", () => arena.gateway.accepted.length === 1);
  });
});

describe("opsctl webhook serve does not start", () => {
  test("a missing setting stops the start, and all of them are named at once", async () => {
    const { exitCode, stderr } = await opsctl(["webhook", "serve"], { env: { WEBHOOK_SECRET: "  " } });
    expect(exitCode).toBe(3);
    for (const name of ["WEBHOOK_SECRET", "MESSAGING_API_URL", "MESSAGING_API_KEY", "MESSAGING_PHONE"])
      expect(stderr).toContain(name);
    for (const name of ["ISSUE_TRACKER_TOKEN", "ISSUE_TRACKER_TEAM_ID"]) expect(stderr).toContain(name);
  });

  test("a phone that is none, or a secret sent in the clear, stops the start and is not quoted", async () => {
    await using arena = await openWebhookArena();
    const env = { MESSAGING_PHONE: "12-canary", MESSAGING_API_URL: "http://gateway.example.com" };
    const { exitCode, stderr } = await beside(arena, ["webhook", "serve", "--port", "0"], env);
    expect(exitCode).toBe(3);
    expect(stderr).toContain("MESSAGING_PHONE");
    expect(stderr).toContain("OPSCTL_ALLOW_PLAIN_HTTP=1");
    expect(stderr).not.toContain("12-canary");
  });

  test("a port that is taken stops the start", async () => {
    await using arena = await openWebhookArena();
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as { port: number };
    const args = ["webhook", "serve", "--host", "127.0.0.1", "--port", `${port}`, "--admin-port", "0"];
    const { exitCode, stderr } = await beside(arena, args);
    server.close();
    expect(exitCode).toBe(3);
    expect(stderr).toContain("LISTEN_FAILED");
  });

  test("a state directory that is missing stops the start", async () => {
    await using arena = await openWebhookArena();
    const env = { OPSCTL_STATE_DIR: join(arena.directory, "missing") };
    const { exitCode, stderr } = await beside(
      arena,
      ["webhook", "serve", "--port", "0", "--admin-port", "0"],
      env,
    );
    expect(exitCode).toBe(3);
    expect(stderr).toContain("STATE_UNAVAILABLE");
  });
});

describe("opsctl webhook serve", () => {
  test("starts on a corrupt state file, and says so loudly", async () => {
    await using arena = await openWebhookArena();
    writeFileSync(
      join(arena.directory, "state.db"),
      "this is no database, but it is long enough to be one\n".repeat(100),
    );
    const service = await arena.start();
    expect(service.log()).toMatch(/"level":"error".*state\.db/);
    expect((await postAlerts(service.url, { alerts: [ALERT] })).status).toBe(200);
    expect(await (await fetch(`${service.adminUrl}/metrics`)).text()).toMatch(
      /^opsctl_webhook_state_quarantined 1$/m,
    );
  });

  test("shows no secret, no number and no alert's text in its log and metrics", async () => {
    await using arena = await openWebhookArena();
    arena.gateway.routes.send.next({ status: 502, text: "canary-page" }, "drop");
    const service = await arena.start({ env: { OPSCTL_LOG_LEVEL: "debug" } });
    for (const status of ["firing", "resolved"])
      await postAlerts(service.url, { alerts: [{ ...ALERT, status }] });
    await fetch(service.url, {
      method: "POST",
      headers: { "x-webhook-secret": "canary-wrong-secret" },
      body: "canary-body",
    });
    const shown = await Promise.all(
      ["/metrics", "/healthz", "/readyz"].map(async (path) => (await fetch(service.adminUrl + path)).text()),
    );
    service.kill("SIGTERM");
    const { stdout, stderr } = await service.ended;
    const everything = [stdout, stderr, ...shown].join("\n");
    expect(everything).not.toMatch(/canary/);
    for (const canary of [SECRET, TOKEN, KEY, PHONE]) expect(everything).not.toContain(canary);
  });
});

describe("opsctl webhook test", () => {
  test("reports a message and an issue that are out", async () => {
    await using arena = await openWebhookArena();
    const service = await arena.start();
    const { exitCode, json } = await beside(arena, ["webhook", "test", "--url", service.url, "--json"]);
    expect(json).toMatchObject({
      command: "webhook test",
      status: "success",
      whatsapp: "sent",
      issue: "created",
    });
    expect(exitCode).toBe(0);
    expect(arena.gateway.accepted[0]!.text).toContain("Teste do opsctl");
    expect(arena.tracker.issues).toHaveLength(1);
  });

  test("creates no issue with --without-issue, and prints so", async () => {
    await using arena = await openWebhookArena();
    const service = await arena.start();
    const { exitCode, stdout } = await beside(arena, [
      "webhook",
      "test",
      "--url",
      service.url,
      "--without-issue",
    ]);
    expect([exitCode, stdout]).toEqual([0, "WhatsApp  sent\nIssue     skipped (--without-issue)\n"]);
    expect(arena.tracker.issues).toEqual([]);
  });

  test.each<[string, (arena: WebhookArena) => unknown, string, RegExp]>([
    [
      "no licence",
      ({ gateway }) => void Object.assign(gateway, { isLicensed: false }),
      "gateway_license_required",
      /-> Activate/,
    ],
    [
      "no phone",
      ({ gateway }) => gateway.instances.set("ops", "close"),
      "sem_instancia_gateway",
      /-> .*pair its phone/,
    ],
    ["no gateway", ({ gateway }) => gateway.stop(), "gateway_unreachable", /-> Start the gateway/],
  ])("says what to do about a gateway with %s", async (_what, spoil, code, mend) => {
    await using arena = await openWebhookArena();
    await spoil(arena);
    const service = await arena.start();
    const args = ["webhook", "test", "--url", service.url, "--wait", "1", "--without-issue"];
    const { exitCode, stdout } = await beside(arena, args);
    expect(exitCode).toBe(1);
    expect(stdout).toContain(`WhatsApp  accepted, not sent yet (${code})\n`);
    expect(stdout).toMatch(mend);
  });

  test("follows what is queued, and says why it is not out yet", async () => {
    await using arena = await openWebhookArena();
    arena.gateway.routes.send.script = () => ({ status: 502, text: "Bad Gateway" });
    const service = await arena.start();
    const { exitCode, json } = await beside(arena, [
      "webhook",
      "test",
      "--url",
      service.url,
      "--wait",
      "1",
      "--json",
    ]);
    expect(exitCode).toBe(1);
    expect(json).toMatchObject({
      whatsapp: "queued",
      issue: "created",
      codes: { message: "gateway_http_502" },
    });
  });

  test("does not send the secret in the clear", async () => {
    await using arena = await openWebhookArena();
    const { exitCode, stderr } = await beside(arena, [
      "webhook",
      "test",
      "--url",
      "http://192.0.2.1:9300/webhook",
    ]);
    expect(exitCode).toBe(3);
    expect(stderr).toContain("OPSCTL_ALLOW_PLAIN_HTTP=1");
  });

  test("distinguishes a wrong secret from a service that does not run", async () => {
    await using arena = await openWebhookArena();
    const service = await arena.start();
    const wrong = await beside(arena, ["webhook", "test", "--url", service.url, "--json"], {
      WEBHOOK_SECRET: "another one",
    });
    expect([wrong.exitCode, wrong.json.error]).toMatchObject([1, { code: "WEBHOOK_REFUSED" }]);
    service.kill("SIGTERM");
    await service.ended;
    const gone = await beside(arena, ["webhook", "test", "--url", service.url, "--json"]);
    expect([gone.exitCode, gone.json.error]).toMatchObject([1, { code: "WEBHOOK_UNREACHABLE" }]);
  });
});

describe("opsctl webhook queue", () => {
  test("lists what waits in the order in which it goes out, and removes it while the service runs", async () => {
    await using arena = await openWebhookArena();
    const empty = await beside(arena, ["webhook", "queue", "list"]);
    expect([empty.exitCode, empty.stdout]).toEqual([0, "Nothing is queued.\n"]);
    arena.gateway.routes.send.script = () => ({ status: 502, text: "Bad Gateway" });
    const service = await arena.start();
    const alert = (fingerprint: string, severity: string) => ({
      ...ALERT,
      status: "resolved",
      fingerprint,
      labels: { ...ALERT.labels, severity },
    });
    await postAlerts(service.url, {
      alerts: [alert("a", "warning"), alert("b", "critical"), alert("c", "info")],
    });
    const { json } = await beside(arena, ["webhook", "queue", "list", "--limit", "2", "--json"]);
    const queued = json.queued as { id: number; fingerprint: string }[];
    expect(queued.map(({ fingerprint }) => fingerprint)).toEqual(["b", "a"]);
    expect(json.counts).toEqual({ message: 3, issue: 0, comment: 0 });
    const shown = await beside(arena, ["webhook", "queue", "list", "--limit", "2"]);
    expect(shown.stdout).toContain("2 of 3 rows; --limit shows more\n");
    expect(shown.stdout).toContain("critical");

    const row = String(queued[1]!.id);
    const dropped = await beside(arena, ["webhook", "queue", "drop", "--row", row]);
    expect([dropped.exitCode, dropped.stdout]).toEqual([0, "1 row removed\n"]);
    const again = await beside(arena, ["webhook", "queue", "drop", "--row", row, "--json"]);
    expect([again.exitCode, again.json.error]).toMatchObject([1, { code: "QUEUED_ROW_NOT_FOUND" }]);
    expect((await beside(arena, ["webhook", "queue", "drop"])).exitCode).toBe(2);
    const all = await beside(arena, ["webhook", "queue", "drop", "--all", "--json"]);
    expect(all.json).toMatchObject({ count: 2 });
    expect((await beside(arena, ["webhook", "queue", "list"])).stdout).toBe("Nothing is queued.\n");
  });
});

describe("opsctl webhook dead", () => {
  test("lists nothing, and finds no row, where nothing is undelivered", async () => {
    await using arena = await openWebhookArena();
    const list = await beside(arena, ["webhook", "dead", "list"]);
    expect([list.exitCode, list.stdout]).toEqual([0, "Nothing is undelivered or unknown.\n"]);
    const retry = await beside(arena, ["webhook", "dead", "retry", "--row", "7", "--json"]);
    expect([retry.exitCode, retry.json.error]).toMatchObject([1, { code: "DEAD_ROW_NOT_FOUND" }]);
    expect((await beside(arena, ["webhook", "dead", "drop", "--all", "--json"])).json).toMatchObject({
      count: 0,
    });
    expect((await beside(arena, ["webhook", "dead", "drop"])).exitCode).toBe(2);
  });

  test("lists a refused issue, revives it while the service runs, and the tracker gets it", async () => {
    await using arena = await openWebhookArena();
    arena.tracker.routes.graphql.next({
      status: 400,
      json: { errors: [{ message: "no", extensions: { type: "usage limit exceeded" } }] },
    });
    const service = await arena.start();
    expect((await postAlerts(service.url, { alerts: [ALERT] })).json).toMatchObject({
      alerts: [{ issue: "refused" }],
    });
    const { json } = await beside(arena, ["webhook", "dead", "list", "--json"]);
    const [row] = json.dead as { id: number; kind: string }[];
    expect(row).toMatchObject({ kind: "issue", alertname: "Disco Raiz Baixo" });
    const retried = await beside(arena, ["webhook", "dead", "retry", "--row", String(row!.id)]);
    expect([retried.exitCode, retried.stdout]).toEqual([0, "1 row will be tried again\n"]);
    await until("the tracker has it", () => arena.tracker.issues.length === 1);
  });
});
