/**
 * `opsctl webhook serve` behind reverse proxies, judged by what the gateway and the tracker got.
 *
 * `make integration ONLY=proxies` runs it with Debian's programs; alone it needs the machine's: `bun test
 * ./tests/proxies/proxies.ts`.
 */
import { expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { Agent, request as httpRequest, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { findAlertmanager, startAlertmanager } from "../e2e/support/monitoring-process.ts";
import { openWebhookArena, type Serving, type WebhookArena } from "../e2e/support/serve.ts";
import { type HeldSocket, holdSocket } from "../platform/support/held-socket.ts";
import { request, speak } from "../platform/support/raw-http.ts";
import { until } from "../support/until.ts";
import { SECRET } from "../webhook/support/settings.ts";
import { type ProxyName, startProxy } from "./proxy.ts";

const NAMES: readonly ProxyName[] = ["nginx as documented", "nginx, kept alive", "haproxy", "Caddy"];
/** Nothing waits for its turn: what arrives is seen at once. */
const FAST = ["--messages-per-minute", "6000", "--issues-per-hour", "100000", "--digest-after", "0"];
const MOST_BYTES = 8_388_608;
const RESTARTS = 4;
const CLIENTS = 12;

const portOf = ({ url }: Serving) => Number(new URL(url).port);

function bodyOf(name: string): string {
  const labels = { alertname: name, ruleGroup: "vps-infra", severity: "warning" };
  return JSON.stringify({ alerts: [{ status: "firing", labels, annotations: {}, fingerprint: name }] });
}

/** A post to the webhook with the secret, or another one. */
function post(headers: readonly string[], body: string | Uint8Array = "", secret = SECRET): Buffer {
  return request("POST /webhook", [`X-Webhook-Secret: ${secret}`, ...headers], body);
}

test.each(NAMES)("%s passes posts and answers on", async (name) => {
  await using arena = await openWebhookArena();
  const service = await arena.start({ args: FAST });
  await using proxy = await startProxy(name, portOf(service));
  const statusOf = async (...pieces: Uint8Array[]) => (await speak(proxy.port, pieces)).status;

  expect(await statusOf(post([], bodyOf("whole")))).toBe(200);
  const chunk = `${bodyOf("chunked").length.toString(16)}\r\n${bodyOf("chunked")}\r\n0\r\n\r\n`;
  expect(await statusOf(post(["Transfer-Encoding: chunked"]), Buffer.from(chunk))).toBe(200);
  const expecting = post(["Expect: 100-continue", `Content-Length: ${bodyOf("expected").length}`]);
  const continued = Promise.withResolvers<void>();
  const afterContinue = async function* () {
    yield expecting;
    await continued.promise;
    yield bodyOf("expected");
  };
  const { text } = await speak(proxy.port, afterContinue(), (seen) => {
    if (seen.startsWith("HTTP/1.1 100 ")) continued.resolve();
    return false;
  });
  expect(text).toContain("HTTP/1.1 200 OK");
  expect(await statusOf(post([], bodyOf("largest").padEnd(MOST_BYTES)))).toBe(200);
  expect(await statusOf(post([], bodyOf("too large").padEnd(MOST_BYTES + 1_000_000)))).toBe(413);
  expect(await statusOf(post(["Content-Encoding: gzip"], gzipSync(bodyOf("packed"))))).toBe(415);
  expect(await statusOf(request("GET /webhook"))).toBe(405);
  expect(await statusOf(request("POST /webhook/"))).toBe(404);

  const names = ["whole", "chunked", "expected", "largest"];
  await until("every message", () => arena.gateway.accepted.length === names.length);
  expect(titlesOf(arena)).toEqual(namesAsTitles(names));
});

test.each(NAMES)("behind %s the log has the address that the proxy saw", async (name) => {
  await using arena = await openWebhookArena();
  const service = await arena.start();
  await using proxy = await startProxy(name, portOf(service));
  const { status } = await speak(proxy.port, [post(["X-Forwarded-For: 203.0.113.7"], "{}", "another")]);
  expect(status).toBe(401);
  await until("the line of the refusal", () => service.log().includes("A request was refused"));
  expect(service.log()).toContain('"address":"127.0.0.1","forwardedFor":"127.0.0.1"');
  expect(service.log()).not.toContain("203.0.113.7");
});

test("nginx as documented keeps no body, neither before the secret is known to be right nor on its disk", async () => {
  await using arena = await openWebhookArena();
  await using proxy = await startProxy("nginx as documented", portOf(await arena.start()));
  const { status } = await speak(proxy.port, [post([`Content-Length: ${MOST_BYTES}`], "", "another")]);
  expect(status).toBe(401);
  // It cannot write there any more, as on a full disk.
  rmSync(join(proxy.folder, "client_body"), { recursive: true });
  const large = await speak(proxy.port, [post([], bodyOf("large").padEnd(MOST_BYTES))]);
  expect(large.status).toBe(200);
});

test.each(NAMES)("%s passes on when to come again", async (name) => {
  await using arena = await openWebhookArena();
  // Alerts that neither fit nor go out from memory.
  const service = await arena.start({
    args: ["--outbox-rows", "1"],
    env: { MESSAGING_API_URL: "http://127.0.0.1:1" },
  });
  await using proxy = await startProxy(name, portOf(service));
  const alerts = ["a", "b", "c"].flatMap((alert) => JSON.parse(bodyOf(alert)).alerts);
  const { status, head } = await speak(proxy.port, [post([], JSON.stringify({ alerts }))]);
  expect(status).toBe(503);
  expect(head).toMatch(/^retry-after: 10\r?$/im);
});

test.each(NAMES)("restarts behind %s lose and double nothing", async (name) => {
  await using arena = await openWebhookArena();
  await using service = await restartable(arena);
  await using proxy = await startProxy(name, service.port);
  const agent = new Agent({ keepAlive: true });
  const posted: string[] = [];
  let [isOver, repeated] = [false, 0];
  const client = async (number: number) => {
    while (!isOver) {
      const alert = `Alarme ${number}-${posted.length}-`;
      posted.push(alert);
      // As a platform does: again, until it is taken.
      while ((await statusOf(agent, proxy.port, bodyOf(alert))) !== 200) repeated += 1;
      // Some connections rest when the service ends.
      await new Promise((resolve) => setTimeout(resolve, 40 * number));
    }
  };
  const clients = Array.from({ length: CLIENTS }, (_, number) => client(number));
  for (let restart = 0; restart < RESTARTS; restart += 1) {
    const before = posted.length;
    await service.restart();
    await until("posts go on", () => posted.length > before + CLIENTS);
  }
  isOver = true;
  await Promise.all(clients);
  agent.destroy();
  console.log(`${name}: ${posted.length} posts over ${RESTARTS} restarts, ${repeated} of them repeated`);
  await until(
    "every message and issue",
    () => Math.min(arena.gateway.accepted.length, arena.tracker.issues.length) >= posted.length,
  );
  expect(titlesOf(arena)).toEqual(namesAsTitles(posted));
  const texts = arena.gateway.accepted.map(({ text }) => text).sort();
  expect(posted.sort().map((alert) => texts.filter((text) => text.includes(alert)).length)).toEqual(
    posted.map(() => 1),
  );
});

test("Alertmanager's alerts arrive through haproxy while the service restarts", async () => {
  await using arena = await openWebhookArena();
  await using service = await restartable(arena);
  await using proxy = await startProxy("haproxy", service.port);
  const credentials = join(arena.directory, "secret-of-the-platform");
  writeFileSync(credentials, SECRET);
  await using platform = await startAlertmanager(findAlertmanager()!, proxy.url, SECRET, {
    webhook: { http_config: { authorization: { credentials_file: credentials } } },
  });
  const names = Array.from({ length: 24 }, (_, number) => `Alarme ${number}-`);
  const tell = async (endsAt?: string) => {
    for (const [number, alertname] of names.entries()) {
      await give(platform.url, [{ labels: { alertname, ruleGroup: "vps-infra" }, endsAt }]);
      if (number % 8 === 4) await service.restart();
    }
  };
  await tell();
  await until("each issue", () => arena.tracker.issues.length >= names.length);
  await tell(new Date().toISOString());
  const endOf = (name: string) =>
    arena.gateway.accepted.some(({ text }) => text.startsWith("✅") && text.includes(name));
  await until("the end of each", () => names.every(endOf));
  expect(titlesOf(arena)).toEqual(namesAsTitles(names));
});

test("what Alertmanager's max_alerts leaves out of a post is counted in its messages", async () => {
  await using arena = await openWebhookArena();
  await using proxy = await startProxy("nginx as documented", portOf(await arena.start({ args: FAST })));
  await using platform = await startAlertmanager(findAlertmanager()!, proxy.url, SECRET, {
    webhook: { max_alerts: 2 },
  });
  const hosts = ["a", "b", "c", "d", "e"];
  await give(
    platform.url,
    hosts.map((instance) => ({ labels: { alertname: "Disco", instance } })),
  );
  await until("both messages", () => arena.gateway.accepted.length === 2);
  for (const { text } of arena.gateway.accepted) expect(text).toContain("+3 alertas não mostrados");
});

/** A service behind a socket that is held, as systemd holds it, so that the next one takes what the last one left. */
async function restartable(arena: WebhookArena) {
  const held: HeldSocket = holdSocket();
  let service = await arena.start({ held, args: FAST });
  return {
    port: held.port,
    async restart() {
      service.kill("SIGTERM");
      expect((await service.ended).exitCode).toBe(0);
      service = await arena.start({ held, args: FAST });
    },
    async [Symbol.asyncDispose]() {
      service.kill("SIGTERM");
      await service.ended;
      held.close();
    },
  };
}

/** The status of the answer; null when there was none. */
function statusOf(agent: Agent, port: number, body: string): Promise<number | null> {
  const headers = { "x-webhook-secret": SECRET, "content-length": Buffer.byteLength(body) };
  return new Promise((resolve) => {
    const answered = (answer: IncomingMessage) => {
      answer.resume().once("close", () => resolve(answer.statusCode ?? null));
    };
    httpRequest({ host: "127.0.0.1", port, path: "/webhook", method: "POST", agent, headers }, answered)
      .once("error", () => resolve(null))
      .end(body);
  });
}

/** Gives alerts to Alertmanager. */
async function give(url: string, alerts: object[]): Promise<void> {
  const response = await fetch(`${url}/api/v2/alerts`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(alerts),
  });
  expect(response.status).toBe(200);
}

function titlesOf({ tracker }: WebhookArena): string[] {
  return tracker.issues.map(({ title }) => title).sort();
}

function namesAsTitles(names: readonly string[]): string[] {
  return names.map((name) => `[ALERTA][infra] ${name}`).sort();
}
