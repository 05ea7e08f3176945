/** The second port: health, readiness, metrics and the page, for this host itself. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { request, speak } from "../../platform/support/raw-http.ts";
import { alertOf, onBothStores, type Service, startService } from "../support/start-service.ts";

const ALONE = { connection: "close" };
const PATHS = ["/", "/healthz", "/readyz", "/metrics"];
const NOTHING = { queued: 0, dead: 0, unknown: 0, oldestQueuedAgeSeconds: null };

describe("the second port", () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  const ask = (path: string, method = "GET") =>
    fetch(`${service.adminUrl}${path}`, { method, headers: ALONE });
  const askAs = (host: string, path: string) => {
    const bytes = request(`GET ${path}`).toString("latin1").replace("Host: localhost", `Host: ${host}`);
    return speak(Number(new URL(service.adminUrl).port), [bytes]);
  };

  test.each(["localhost", "LocalHost:9301", "127.0.0.1", "127.0.0.1:80", "[::1]", "[::1]:9301"])(
    "answers as %s",
    async (host) => {
      expect((await askAs(host, "/healthz")).status).toBe(200);
    },
  );

  test.each([
    ...["alerts.example.com", "alerts.example.com:9301", "192.0.2.1", "[2001:db8::1]", ""],
    ...["localhost.example.com", "127.0.0.1.example.com", "localhost:9301@example.com"],
    ...["localhost, example.com", "example.com:localhost"],
  ])("refuses to answer as %p, whatever is asked for", async (host) => {
    for (const path of [...PATHS, "/nothing"]) {
      const { status, body } = await askAs(host, path);
      expect([path, status]).toEqual([path, 421]);
      expect(JSON.parse(body)).toMatchObject({ error: { code: "host_not_loopback" } });
    }
  });

  test.each(PATHS)("is for reading alone at %s", async (path) => {
    const head = await ask(path, "HEAD");
    expect([head.status, await head.text()]).toEqual([200, ""]);
    for (const method of ["POST", "PUT", "DELETE", "OPTIONS"]) {
      const refused = await ask(path, method);
      expect([refused.status, refused.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
    }
  });

  test("serves nothing else", async () => {
    for (const path of ["/index.html", "/webhook", "/healthz/", "/metrics/x"])
      expect((await ask(path)).status).toBe(404);
  });

  test("says what each answer is, and that nobody keeps it", async () => {
    const types = { "/": "text/html; charset=utf-8", "/healthz": "application/json" };
    for (const [path, type] of Object.entries(types)) {
      const { headers } = await ask(path);
      expect([headers.get("content-type"), headers.get("cache-control")]).toEqual([type, "no-store"]);
    }
    const { headers } = await ask("/metrics");
    expect(headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
  });
});

describe("/healthz", () => {
  test("shows what is queued, paused and quarantined, and is healthy", async () => {
    await using service = await startService({ key: "wrong" });
    await service.post([alertOf("Disco")]);
    await service.advance(2_000);
    await service.end();
    writeFileSync(join(service.directory, "state.db"), "garbage ".repeat(2_000));
    await service.restart();
    await service.post([alertOf("RAM", { status: "resolved" })]);
    await service.advance(1_500);
    const { status, text } = await service.get("/healthz");
    expect(status).toBe(200);
    expect(JSON.parse(text)).toEqual({
      ...{ status: "ok", stopping: false, leader: true },
      paused: { message: "gateway_unauthorized", issue: null, comment: null },
      ...{ gatewayOpen: null, pendingMessages: null, newestUnacknowledged: null },
      posts: { acceptedAt: null, secretRefusedAt: null },
      message: { ...NOTHING, queued: 1, oldestQueuedAgeSeconds: 1.5 },
      ...{ issue: NOTHING, comment: NOTHING, queuedBytes: expect.any(Number), reserveBytes: 0 },
      quarantined: expect.stringContaining("state.db.damaged-"),
    });
  });
});

onBothStores("is ready, healthy and shows metrics from the start", async (store) => {
  await using service = await startService({ store });
  expect(await service.get("/readyz")).toEqual({ status: 200, text: '{"status":"ready"}' });
  expect(await service.health()).toMatchObject({ status: "ok", quarantined: null });
  expect(await service.metric("opsctl_webhook_state_unreadable")).toBe(0);
});

test("a store that does not answer is reported at each path with 503, and logged at once, every five minutes, and at its end", async () => {
  await using service = await startService({ store: "postgres", canFail: true, storeLimitMs: 100 });
  service.failStore();
  const paths = ["/healthz", "/readyz", "/", "/metrics"];
  const ask = async () => {
    for (const path of paths) expect((await service.get(path)).status).toBe(path === "/metrics" ? 200 : 503);
  };
  service.log.length = 0;
  await ask();
  expect((await service.get("/healthz")).text).toBe('{"status":"state_unavailable"}');
  expect(await service.metric("opsctl_webhook_state_unreadable")).toBe(1);
  await service.advance(5 * 60_000, 60_000);
  await ask();
  const logged = () =>
    service.log
      .filter(({ msg }) => /^The state (does not answer|answers again)$/.test(msg))
      .map(({ msg, path }) => [msg, path]);
  const each = (msg: string, of: (string | undefined)[]) => of.map((path) => [msg, path]);
  expect(logged()).toEqual([
    ...each("The state does not answer", paths),
    ...each("The state does not answer", paths),
  ]);
  service.restoreStore();
  service.log.length = 0;
  for (const path of paths) while ((await service.get(path)).status !== 200);
  expect(logged()).toHaveLength(paths.length);
  for (const [msg] of logged()) expect(msg).toBe("The state answers again");
});
