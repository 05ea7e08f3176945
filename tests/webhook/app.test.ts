/** What arrives at the public port without a socket: mountains of bad payloads, and what is counted. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Log } from "../../lib/platform/log.ts";
import { Secret } from "../../lib/platform/secret.ts";
import type { TakeAlerts } from "../../lib/webhook/answer.ts";
import { createApp } from "../../lib/webhook/app.ts";
import { parseAlerts } from "../../lib/webhook/parse-alerts.ts";
import { readBody } from "../../lib/webhook/read-body.ts";
import { probeAnswer } from "./app-probe.ts";

const SECRET = "the-secret";

function startApp(take: TakeAlerts = async (alerts) => alerts.map(probeAnswer)) {
  const counted: (string | number)[] = [];
  const logged: unknown[] = [];
  const note = (...line: unknown[]) => void logged.push(line);
  const log: Log = { debug: note, info: note, warn: note, error: note };
  let isStopping = false;
  const metrics = {
    request: (status: number, durationMs: number) => void counted.push(status, durationMs),
    rejected: (count: number) => void counted.push("rejected", count),
  };
  let nowMs = 0;
  const app = createApp({
    secret: new Secret(SECRET),
    parse: parseAlerts,
    take,
    metrics,
    log,
    isStopping: () => isStopping,
    monotonicMs: () => (nowMs += 7),
  });
  const post = async (body: BodyInit, headers: Record<string, string> = {}) =>
    await app.fetch(
      new Request("http://localhost/webhook", {
        method: "POST",
        headers: { "x-webhook-secret": SECRET, ...headers },
        body,
      }),
    );
  return {
    post,
    counted,
    logged,
    stop() {
      isStopping = true;
    },
  };
}

const nameOfKey = fc.constantFrom(
  ...["alerts", "status", "labels", "annotations", "alertname", "severity", "ruleGroup", "fingerprint"],
  ...["summary", "description", "startsAt", "values", "valueString", "truncatedAlerts", "generatorURL"],
  ...["__proto__", "constructor", "toString", "valueOf", "toJSON", "hasOwnProperty", "length", ""],
);
const leaf = fc.oneof(
  fc.constantFrom(
    null,
    true,
    0,
    -0,
    1e308,
    "",
    "firing",
    "resolved",
    "vps-infra",
    "\u0000",
    "\ud800",
    "0001-01-01",
  ),
  fc.string({ unit: "binary" }),
  fc.double({ noNaN: true }),
);
const { anything } = fc.letrec((tie) => ({
  anything: fc.oneof(
    { maxDepth: 5, depthSize: "small" },
    leaf,
    fc.array(tie("anything"), { maxLength: 4 }),
    fc
      .array(fc.tuple(nameOfKey, tie("anything")), { maxLength: 6 })
      .map((pairs) => ({ object: pairs }) as unknown),
  ),
}));

/** As JSON text, so that `__proto__` stays a key and a key may come twice. */
function jsonOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(jsonOf).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const { object } = value as { object: [string, unknown][] };
  return `{${object.map(([key, inner]) => `${JSON.stringify(key)}:${jsonOf(inner)}`).join(",")}}`;
}

const nested = fc
  .tuple(fc.constantFrom("[", '{"a":', '{"alerts":[', '{"labels":{"x":'), fc.integer({ min: 1, max: 3_000 }))
  .map(([part, depth]) => part.repeat(depth));
const body = fc.oneof(
  anything.map((value) => jsonOf(value)),
  anything.map((value) => `{"alerts":[${jsonOf(value)}]}`),
  fc.tuple(anything, fc.nat(200)).map(([value, cut]) => jsonOf(value).slice(0, cut)),
  nested,
  fc.string({ unit: "binary" }),
  fc.uint8Array({ maxLength: 40 }),
  fc.tuple(anything, fc.uint8Array({ minLength: 1, maxLength: 3 }), fc.nat(50)).map(([value, noise, at]) => {
    const bytes = new Uint8Array(Buffer.from(jsonOf(value)));
    bytes.set(noise.slice(0, Math.max(0, bytes.length - at)), Math.min(at, bytes.length));
    return bytes;
  }),
);

describe("createApp()", () => {
  test("answers ten thousand bad payloads, none of them with a 5xx", async () => {
    const { post, logged } = startApp();
    const seen = new Map<number, number>();
    await fc.assert(
      fc.asyncProperty(body, async (bytes) => {
        const response = await post(bytes as BodyInit, { "content-type": "application/json" });
        seen.set(response.status, (seen.get(response.status) ?? 0) + 1);
        expect([200, 400, 422]).toContain(response.status);
        const answer = (await response.json()) as Record<string, unknown>;
        expect(Object.keys(answer)).toEqual(
          response.status === 200 ? ["accepted", "rejected", "rejectedTotal", "alerts"] : ["error"],
        );
      }),
      { numRuns: 10_000 },
    );
    expect([...seen.keys()].sort()).toEqual([200, 400, 422]);
    expect(logged).toEqual([]);
  });

  test("counts every request, and the entries that were no alerts", async () => {
    const { post, counted } = startApp();
    await post('{"alerts":[{"status":"firing","labels":{"alertname":"A"}},7,8]}');
    await post("{");
    expect(counted).toEqual(["rejected", 2, 200, 7, 400, 7]);
  });

  test.each([
    ["alone", "", 422],
    ["beside a good one", "{},", 200],
  ])("answers a mebibyte of bad alerts %s with the first hundred and a count", async (_how, good, status) => {
    const { post, counted } = startApp();
    const count = 500_000;
    const response = await post(`{"alerts":[${good}${"1,".repeat(count - 1)}1]}`);
    expect(response.status).toBe(status);
    const text = await response.text();
    expect(text.length).toBeLessThan(10_000);
    const answer = JSON.parse(text);
    const [list, total] =
      status === 422
        ? [answer.error.problems, answer.error.problemsTotal]
        : [answer.rejected, answer.rejectedTotal];
    expect([list.length, total]).toEqual([100, count]);
    if (status === 200) expect(counted.slice(0, 2)).toEqual(["rejected", count]);
  });

  test("takes nothing for an empty list", async () => {
    const { post } = startApp(async () => {
      throw new Error("not to be asked");
    });
    expect((await post('{"alerts":[]}')).status).toBe(200);
  });

  test("asks for a repetition when nothing could be kept, sooner when it only restarts", async () => {
    const { post, stop } = startApp(async () => null);
    const retryAfter = async () => (await post('{"status":"x","labels":{}}')).headers.get("retry-after");
    expect(await retryAfter()).toBe("10");
    stop();
    expect(await retryAfter()).toBe("1");
  });

  test("tells neither sender nor log what a failure was about", async () => {
    const { post, logged } = startApp(async () => {
      throw new TypeError("canary");
    });
    const response = await post('{"status":"firing","labels":{"alertname":"canary"}}');
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({ error: { code: "internal" } });
    expect(logged).toEqual([["A request failed", { cause: "TypeError" }]]);
  });
});

describe("readBody()", () => {
  test("gives up a sender that stalls", async () => {
    const stalled = new ReadableStream({ pull: () => new Promise<void>(() => {}) });
    const request = new Request("http://localhost/", { method: "POST", body: stalled });
    expect(await readBody(request, 20)).toEqual({ problem: "timeout" });
  });

  test("holds no more than the limit", async () => {
    let given = 0;
    const endless = new ReadableStream({
      pull(controller) {
        given += 100_000;
        controller.enqueue(new Uint8Array(100_000));
      },
    });
    const request = new Request("http://localhost/", { method: "POST", body: endless });
    expect(await readBody(request)).toEqual({ problem: "payload_too_large" });
    expect(given).toBeLessThan(1_048_576 + 400_000);
  });
});
