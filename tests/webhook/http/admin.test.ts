import { describe, expect, test } from "bun:test";
import { type AdminParts, createAdminApp } from "../../../lib/webhook/http/admin.ts";
import { createWebhookMetrics } from "../../../lib/webhook/metrics/metrics.ts";
import { silentLog } from "../../support/silent-log.ts";
import { parsePrometheus } from "../../text/support/prometheus-parser.ts";
import { NOW_MS, recentAlert, watchView } from "../support/page-facts.ts";

const stats = {
  message: { queued: 2, dead: 1, inDoubt: 3, oldestQueuedAgeMs: 1_500 },
  issue: { queued: 0, dead: 0, inDoubt: 0, oldestQueuedAgeMs: null },
  comment: { queued: 0, dead: 0, inDoubt: 0, oldestQueuedAgeMs: null },
  queuedBytes: 700,
  oldestCriticalAgeMs: null,
  reserveBytes: 4_096,
};

type More = Partial<Pick<AdminParts, "log" | "monotonicMs" | "posts">> & {
  state?: Partial<AdminParts["state"]>;
  isStopping?: boolean;
};

function admin(more: More = {}) {
  const state = {
    stats: async () => stats,
    check: async () => {},
    holds: async () => ({ message: null, issue: null, comment: null }),
    recent: async () => [recentAlert()],
    hourly: async (hours: number) => Array.from({ length: hours }, () => 0),
    listDead: async () => [],
    movedAside: null,
    ...more.state,
  };
  const dispatcher = {
    isLeading: true,
    stops: { message: "gateway_unauthorized", issue: null, comment: null },
  };
  const metrics = createWebhookMetrics({ version: "1" });
  const app = createAdminApp({
    state,
    dispatcher,
    watch: { view: watchView() },
    posts: more.posts ?? { view: { acceptedAt: "2026-11-22T12:00:00.000Z", secretRefusedAt: null } },
    metrics,
    log: more.log ?? silentLog,
    isStopping: () => more.isStopping ?? false,
    nowMs: () => NOW_MS,
    monotonicMs: more.monotonicMs ?? (() => 0),
  });
  return async (path: string, method = "GET", headers: Record<string, string> = {}) =>
    await app.fetch(new Request(`http://localhost${path}`, { method, headers }));
}

const broken = async () => {
  throw new Error("disk full: canary");
};

describe("createAdminApp()", () => {
  test("is healthy while the state answers, and shows what waits, what is held and what was moved aside", async () => {
    const response = await admin({ state: { movedAside: "/var/lib/opsctl/state.db.1" } })("/healthz");
    expect([response.status, response.headers.get("cache-control")]).toEqual([200, "no-store"]);
    expect(await response.json()).toEqual({
      status: "ok",
      stopping: false,
      leading: true,
      holds: { message: "gateway_unauthorized", issue: null, comment: null },
      gatewayOpen: true,
      pendingMessages: null,
      newestUnacknowledged: null,
      posts: { acceptedAt: "2026-11-22T12:00:00.000Z", secretRefusedAt: null },
      message: { queued: 2, dead: 1, inDoubt: 3, oldestQueuedAgeSeconds: 1.5 },
      issue: { queued: 0, dead: 0, inDoubt: 0, oldestQueuedAgeSeconds: null },
      comment: { queued: 0, dead: 0, inDoubt: 0, oldestQueuedAgeSeconds: null },
      queuedBytes: 700,
      reserveBytes: 4_096,
      movedAside: "/var/lib/opsctl/state.db.1",
    });
  });

  test("logs a state that does not answer for each path at once and every five minutes, and when it is over", async () => {
    let nowMs = 0;
    let isBroken = true;
    const said: unknown[] = [];
    const log = {
      ...silentLog,
      error: (msg: string, facts?: Record<string, unknown>) =>
        void said.push([msg, facts?.path, facts?.times]),
      info: (msg: string) => void said.push(msg),
    };
    const fails = async () => (isBroken ? await broken() : undefined);
    const stat = async () => (isBroken ? await broken() : stats);
    const get = admin({ state: { stats: stat, check: fails }, log, monotonicMs: () => nowMs });
    for (let second = 0; second < 310; second += 10) {
      nowMs = second * 1_000;
      for (const path of ["/healthz", "/readyz", "/"]) await get(path);
    }
    const problem = "The state does not answer";
    const paths = ["/healthz", "/readyz", "/"];
    expect(said).toEqual([
      ...paths.map((path) => [problem, path, undefined]),
      ...paths.map((path) => [problem, path, 31]),
    ]);
    isBroken = false;
    said.length = 0;
    for (const path of [...paths, ...paths]) await get(path);
    expect(said).toEqual(paths.map(() => "The state answers again"));
  });

  test.each([
    ["2026-11-22T12:00:00.001Z", true],
    ["2026-11-22T11:59:59.999Z", false],
  ])("tells on the page of a refusal at %s, unless a post was accepted since", async (at, isTold) => {
    const view = { acceptedAt: "2026-11-22T12:00:00.000Z", secretRefusedAt: at };
    const text = await (await admin({ posts: { view } })("/")).text();
    expect(text.includes("foi recusado: tem outro segredo")).toBe(isTold);
  });

  test("shows metrics while the state does not answer, too", async () => {
    const response = await admin({ state: { stats: broken } })("/metrics");
    expect(response.status).toBe(200);
    expect(await response.text()).toMatch(/^opsctl_webhook_state_unreadable 1$/m);
  });

  test.each(["/healthz", "/readyz"])("answers 503 at %s when the state does not answer", async (path) => {
    const response = await admin({ state: { stats: broken, check: broken } })(path);
    expect([response.status, await response.text()]).toEqual([503, '{"status":"state_unavailable"}']);
  });

  test.each(["localhost", "LocalHost:9301", "127.0.0.1", "127.0.0.1:80", "[::1]", "[::1]:9301"])(
    "answers as %s",
    async (host) => {
      expect((await admin()("/healthz", "GET", { host })).status).toBe(200);
    },
  );

  test.each([
    ...[
      "alerts.example.com",
      "alerts.example.com:9301",
      "192.0.2.1",
      "[2001:db8::1]",
      "",
      "localhost.example.com",
    ],
    ...[
      "127.0.0.1.example.com",
      "localhost:9301@example.com",
      "localhost, example.com",
      "example.com:localhost",
    ],
  ])("refuses to answer as %p, whatever is asked for", async (host) => {
    for (const path of ["/", "/healthz", "/readyz", "/metrics", "/nothing"]) {
      const response = await admin()(path, "GET", { host });
      expect(response.status).toBe(421);
      expect(await response.json()).toMatchObject({ error: { code: "host_not_loopback" } });
    }
  });

  test("is ready while alerts could be accepted, and not while it stops", async () => {
    expect((await admin()("/readyz")).status).toBe(200);
    const stopping = await admin({ isStopping: true })("/readyz");
    expect([stopping.status, await stopping.json()]).toEqual([503, { status: "stopping" }]);
    expect((await admin({ isStopping: true })("/healthz")).status).toBe(200);
  });

  test("shows the metrics as Prometheus reads them", async () => {
    const response = await admin()("/metrics");
    expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    const families = parsePrometheus(await response.text());
    const sampleOf = (name: string) => families.find((family) => family.name === name)?.samples[0]?.value;
    expect(sampleOf("opsctl_webhook_queued")).toBe(2);
    expect(sampleOf("opsctl_webhook_held")).toBe(1);
  });

  test("shows the page, which is for reading alone and which nobody keeps", async () => {
    const response = await admin()("/");
    expect([response.status, response.headers.get("cache-control")]).toEqual([200, "no-store"]);
    expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(await response.text()).toContain("Disco Raiz Baixo");
    const head = await admin()("/", "HEAD");
    expect([head.status, await head.text()]).toEqual([200, ""]);
    for (const method of ["POST", "PUT", "DELETE", "OPTIONS"]) {
      const refused = await admin()("/", method);
      expect([refused.status, refused.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
    }
  });

  test.each(["stats", "holds", "recent", "hourly", "listDead"] as const)(
    "says on the page that the state does not answer (%s)",
    async (call) => {
      const response = await admin({ state: { [call]: broken } })("/");
      expect([response.status, response.headers.get("cache-control")]).toEqual([503, "no-store"]);
      const text = await response.text();
      expect(text).toContain("O estado não responde");
      expect(text).toContain("gateway_unauthorized");
      expect(text).not.toContain("canary");
    },
  );

  test("says on the page that no alert can be accepted", async () => {
    const response = await admin({ state: { check: broken } })("/");
    expect(response.status).toBe(200);
    expect(await response.text()).toContain("Nenhum alerta pode ser gravado agora");
  });

  test("serves nothing else", async () => {
    const ask = admin();
    for (const path of ["/index.html", "/webhook", "/healthz/", "/metrics/x"])
      expect((await ask(path)).status).toBe(404);
    const posted = await ask("/metrics", "POST");
    expect([posted.status, posted.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
    expect((await ask("/healthz", "HEAD")).status).toBe(200);
  });
});
