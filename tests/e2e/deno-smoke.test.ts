/** The same sources on Deno: the main case of each command. Everything else is tried on the binary. */
import { expect, test } from "bun:test";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { Agent, get, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openCollectArena } from "../metrics/support/dependencies.ts";
import { startGateway } from "../standins/gateway.ts";
import { startMonitoring } from "../standins/grafana.ts";
import { openAccountHost } from "../support/account-host.ts";
import { requires } from "../support/requires.ts";
import { MONDAY, seedOwner, setClock } from "../support/seed.ts";
import { SECRET } from "../webhook/support/settings.ts";
import { closedBarrier } from "./support/barrier.ts";
import { type Fixture, openFixture } from "./support/fixture.ts";
import { type Ended, opsctl } from "./support/opsctl.ts";
import { openWebhookArena, postAlerts } from "./support/serve.ts";

const ON_DENO = { runtime: "deno" } as const;

/** A command on Deno that ends with 0, with `--json`. */
async function succeeds(fixture: Pick<Fixture, "opsctl">, ...args: string[]): Promise<Ended> {
  const ended = await fixture.opsctl([...args, "--json"], ON_DENO);
  expect(ended.exitCode, args.join(" ") + ended.stdout + ended.stderr).toBe(0);
  return ended;
}

/** Whether a GET that is answered came over a connection that was open before, once that one is free again. */
async function asked(url: string, agent: Agent): Promise<boolean> {
  const request = get(url, { agent });
  const [answer] = (await once(request, "response")) as [IncomingMessage];
  expect(answer.statusCode).toBe(200);
  await once(answer.resume(), "close");
  return request.reusedSocket;
}

test("migrate makes a database ready, and weekly sends each owner's report", async () => {
  await using fixture = await openFixture({ migrated: false, editorials: true });
  const { sql, url } = fixture.db;
  const owner = await seedOwner(sql);
  const asOwner = { ...ON_DENO, env: { OPSCTL_SECRETS_DIR: fixture.folder, DATABASE_URL: url } };
  const migrated = await fixture.opsctl(["migrate", "--json"], asOwner);
  expect(migrated.json, migrated.stderr).toMatchObject({ command: "migrate", exitCode: 0 });
  await setClock(sql, MONDAY);

  expect((await succeeds(fixture, "weekly", "--dry-run")).summary.status).toBe("ready");
  expect((await succeeds(fixture, "weekly")).summary).toMatchObject({
    status: "success",
    reports: { completed: 1 },
    whatsapp: { sent: 1 },
    email: { sent: 1 },
    editorials: { status: "completed" },
    heartbeat: "written",
  });
  expect(fixture.email.accepted.map(({ to }) => String(to))).toEqual([owner.email!]);

  expect((await succeeds(fixture, "reports", "status")).json).toMatchObject({ command: "reports status" });
  expect((await succeeds(fixture, "reports", "list")).stdout).toContain(owner.tenantId);
  const preview = await fixture.opsctl(["reports", "preview", "--tenant", owner.tenantId], ON_DENO);
  expect(preview.stdout, preview.stderr).toContain(fixture.gateway.accepted[0]!.text);
  const { deliveries } = (await succeeds(fixture, "deliveries", "list")).json as {
    deliveries: { id: string }[];
  };
  expect(deliveries).toHaveLength(2);
  expect((await succeeds(fixture, "deliveries", "show", deliveries[0]!.id)).json).toMatchObject({
    delivery: { state: "sent" },
  });
  expect((await succeeds(fixture, "deliveries", "look-up", "--all")).json).toMatchObject({
    counts: { found: 0 },
  });
});

test("weekly finishes what is in flight on SIGTERM", async () => {
  await using fixture = await openFixture();
  await seedOwner(fixture.db.sql);
  const analyze = fixture.onAnalyze;
  const barrier = closedBarrier();
  fixture.onAnalyze = (body) => barrier.pass().then(() => analyze(body));
  const running = await fixture.start(["weekly", "--json"], ON_DENO);
  await barrier.reachedBy(running);
  const interrupted = new Promise<void>((resolve) => {
    let log = "";
    running.child.stderr!.on("data", (text: string) => {
      log += text;
      if (log.includes("RUN_INTERRUPTED")) resolve();
    });
  });
  running.kill("SIGTERM");
  await interrupted;
  barrier.open();
  const { exitCode, summary } = await running.ended;
  expect([exitCode, summary.error?.code]).toEqual([1, "RUN_INTERRUPTED"]);
  expect([
    ...(await fixture.db.sql`select from weekly_performance_reports where status = 'running'`),
  ]).toEqual([]);
});

test("webhook serve takes an alert and delivers it; test, queue and dead work beside it", async () => {
  await using arena = await openWebhookArena();
  const service = await arena.start(ON_DENO);
  const labels = { alertname: "Disco Raiz Baixo", ruleGroup: "vps-infra", severity: "critical" };
  const alert = {
    status: "firing",
    fingerprint: "abc",
    labels,
    annotations: { summary: "s", description: "" },
  };
  const { status, json } = await postAlerts(service.url, { alerts: [alert] });
  expect([status, json]).toMatchObject([
    200,
    { accepted: 1, alerts: [{ whatsapp: "sent", issue: "created" }] },
  ]);
  // A proxy that keeps its connection may send a request when Deno closes it, and no proxy repeats a POST.
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  for (const isReused of [false, true])
    expect(await asked(`${service.adminUrl}/metrics`, agent)).toBe(isReused);
  agent.destroy();

  const env = { ...arena.env, WEBHOOK_SECRET: SECRET, WEBHOOK_URL: service.url };
  const beside = (...args: string[]) => opsctl([...args, "--json"], { ...ON_DENO, env });
  const tried = await beside("webhook", "test", "--url", service.url);
  expect(tried.exitCode, tried.stdout + tried.stderr).toBe(0);
  for (const list of ["queue", "dead"]) {
    const listed = await beside("webhook", list, "list");
    expect(listed.exitCode, listed.stdout + listed.stderr).toBe(0);
  }
  service.kill("SIGTERM");
  expect((await service.ended).exitCode).toBe(0);
});

test("collect-metrics writes its file", async () => {
  await using arena = await openCollectArena();
  writeFileSync(join(arena.folder, "weekly_performance_reports.success"), "");
  const ended = await opsctl(["collect-metrics", "--json"], { ...ON_DENO, env: arena.env });
  expect(ended.json, ended.stderr).toMatchObject({
    command: "collect-metrics",
    status: "success",
    exitCode: 0,
  });
  const text = readFileSync(join(arena.folder, "custom_metrics.prom"), "utf8");
  expect(text).toContain("\nproxy_memory_bytes 524288000\n");
});

test("socket-monitor alerts", async () => {
  const gateway = await startGateway({ adminKey: "canary-key" });
  const folder = mkdtempSync(join(tmpdir(), "opsctl-deno-"));
  for (const name of ["log", "state", "textfile"]) mkdirSync(join(folder, name));
  const settings = {
    MESSAGING_API_URL: gateway.url,
    MESSAGING_API_KEY: "canary-key",
    MESSAGING_PHONE: "5511987654321",
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
  writeFileSync(join(folder, "webhook.env"), lines.join(""), { mode: 0o600 });
  const env = {
    OPSCTL_WEBHOOK_ENV_FILE: join(folder, "webhook.env"),
    OPSCTL_LOG_DIR: join(folder, "log"),
    OPSCTL_STATE_DIR: join(folder, "state"),
    TEXTFILE_DIR: join(folder, "textfile"),
  };
  const ended = await opsctl(["socket-monitor", "--json", "--threshold", "1"], { ...ON_DENO, env });
  expect(ended.json, ended.stderr).toMatchObject({ exitCode: 0, alert: "sent" });
  expect(gateway.accepted).toHaveLength(1);
  await gateway.stop();
  rmSync(folder, { recursive: true });
});

test("alert-rules plans and applies", async () => {
  const platform = await startMonitoring({ token: "glsa_canary", folders: ["vps"] });
  const env = {
    MONITORING_URL: platform.url,
    MONITORING_TOKEN: "glsa_canary",
    MONITORING_FOLDER_UID: "vps",
    MONITORING_PROMETHEUS_UID: "prom-1",
    MONITORING_LOKI_UID: "loki-1",
  };
  const applied = await opsctl(["alert-rules", "apply", "--json"], { ...ON_DENO, env });
  expect(applied.exitCode, applied.stdout + applied.stderr).toBe(0);
  expect(platform.rules.size).toBeGreaterThan(0);
  const planned = await opsctl(["alert-rules", "plan", "--check", "--json"], { ...ON_DENO, env });
  expect(planned.exitCode, planned.stdout + planned.stderr).toBe(0);
  await platform.stop();
});

test("status, doctor and secret list look at a host without anything", async () => {
  const folder = mkdtempSync(join(tmpdir(), "opsctl-deno-"));
  const env = { OPSCTL_SECRETS_DIR: join(folder, "none"), OPSCTL_LOG_DIR: folder, TEXTFILE_DIR: folder };
  const run = (...args: string[]) => opsctl([...args, "--json"], { ...ON_DENO, env });
  expect((await run("status")).json).toMatchObject({ command: "status", error: null });
  expect((await run("doctor", "weekly", "--env-dir", folder)).json).toMatchObject({
    command: "doctor",
    status: "not_ready",
    exitCode: 3,
  });
  expect((await run("secret", "list")).json).toMatchObject({ command: "secret list" });
  rmSync(folder, { recursive: true });
});

requires("account").test("a command that root starts says that it needs the account there", async () => {
  using host = openAccountHost();
  const ended = await opsctl(["migrate", "--status", "--json"], { ...ON_DENO, through: host.inside([]) });
  const hint = "Start it as the account: runuser -u opsctl -- <the same command>";
  expect(ended.json, ended.stderr).toMatchObject({
    exitCode: 3,
    error: { code: "ACCOUNT_UNAVAILABLE", hint },
  });
});

test.each([["version"], ["help weekly"], ["explain 3"], ["completion bash"]])(
  "%s prints",
  async (command) => {
    const { exitCode, stdout, stderr } = await opsctl(command.split(" "), ON_DENO);
    expect([exitCode, stderr]).toEqual([0, ""]);
    expect(stdout).not.toBe("");
  },
);
