/** The public port without a socket: thousands of bad payloads, and what is counted. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { WEBHOOK_QUESTION } from "../../../lib/host/webhook-question.ts";
import type { Log } from "../../../lib/platform/log/log.ts";
import { Secret } from "../../../lib/platform/secrets/secret.ts";
import type { Intake } from "../../../lib/webhook/delivery/intake/intake.ts";
import { createApp } from "../../../lib/webhook/http/app.ts";
import { authenticator } from "../../../lib/webhook/http/authenticate.ts";
import { MAX_BODY_BYTES, readBody } from "../../../lib/webhook/http/read-body.ts";
import { probeAnswer } from "../support/app-probe.ts";
import { badPayload } from "../support/bad-payloads.ts";

const SECRET = "the-secret";
const admitAll = async () => true;
const PREVIOUS = "the-secret-before";

function startApp(take: Intake["take"] = async (alerts) => alerts.map(probeAnswer)) {
  const counted: (string | number)[] = [];
  const logged: unknown[] = [];
  const reported: unknown[] = [];
  const answered: unknown[] = [];
  const note = (...line: unknown[]) => void logged.push(line);
  const log: Log = { debug: note, info: note, warn: note, error: note };
  let isStopping = false;
  const metrics = {
    request: (status: number, durationMs: number) => void counted.push(status, durationMs),
    rejected: (count: number) => void counted.push("rejected", count),
    previousSecret: () => void counted.push("previous"),
  };
  let nowMs = 0;
  const app = createApp({
    authenticate: authenticator({ secret: new Secret(SECRET), previousSecret: new Secret(PREVIOUS) }),
    take,
    metrics,
    report: {
      refused: (...refusal) => void reported.push(refusal),
      rejected: (entries, sender) => void reported.push([entries, sender]),
    },
    posts: { answered: (status, { address }) => void answered.push([status, address]) },
    log,
    isStopping: () => isStopping,
    monotonicMs: () => (nowMs += 7),
  });
  const post = async (
    body: BodyInit,
    headers: Record<string, string> = {},
    { path = "/webhook", method = "POST" } = {},
  ) =>
    await app.fetch(
      new Request(`http://localhost${path}`, {
        method,
        headers: { "x-webhook-secret": SECRET, ...headers },
        body,
      }),
      { address: "::ffff:172.18.0.2" },
    );
  return {
    post,
    counted,
    logged,
    reported,
    answered,
    stop() {
      isStopping = true;
    },
  };
}

describe("createApp()", () => {
  test("counts requests with the previous secret", async () => {
    const { post, counted } = startApp();
    for (const secret of [SECRET, PREVIOUS, "wrong"]) await post("{}", { "x-webhook-secret": secret });
    expect(counted.filter((word) => word === "previous" || word === 401)).toEqual(["previous", 401]);
  });

  test("answers ten thousand bad payloads, none of them with a 5xx", async () => {
    const { post, logged } = startApp();
    const seen = new Map<number, number>();
    await fc.assert(
      fc.asyncProperty(badPayload, async (bytes) => {
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

  test("says that the secret is right to a question, and keeps and reports nothing of it", async () => {
    const { post, reported, counted } = startApp();
    const asked = { "content-type": WEBHOOK_QUESTION };
    const answer = await post("", asked);
    expect([answer.status, await answer.text(), reported]).toEqual([204, "", []]);
    expect(counted).toEqual([204, 7]);
    expect((await post("", { ...asked, "x-webhook-secret": "wrong" })).status).toBe(401);
    expect((await post("{}", { ...asked, "content-length": "2" })).status).toBe(415);
    expect((await post("{}", { ...asked, "transfer-encoding": "chunked" })).status).toBe(415);
  });

  test("reports every refusal, and what was rejected inside an accepted request, with its sender", async () => {
    const { post, reported, answered, stop } = startApp(async () => null);
    const sender = { address: "172.18.0.2", forwardedFor: null };
    const known = { hasSecret: true };
    await post("{", { "x-webhook-secret": "wrong", "x-forwarded-for": "203.0.113.9, 198.51.100.7" });
    await post("{");
    await post("x".repeat(8_388_609));
    await post("{}", { "content-type": "text/plain" });
    await post("{}");
    await post("{}", {}, { path: "/webhook/" });
    await post("{}", {}, { method: "PUT" });
    stop();
    await post('{"alerts":[{}]}');
    await post('{"alerts":[]}');
    expect(reported).toEqual([
      [401, "invalid_secret", { ...sender, forwardedFor: "198.51.100.7" }, { hasSecret: false }],
      [400, "invalid_json", sender, known],
      [413, "payload_too_large", sender, known],
      [415, "unsupported_media_type", sender, known],
      [422, "invalid_payload", sender, known],
      [404, "not_found", sender, known],
      [405, "method_not_allowed", sender, known],
      [503, "state_unavailable", sender, known],
    ]);
    const statuses = [401, 400, 413, 415, 422, 404, 405, 503, 200];
    expect(answered).toEqual(statuses.map((status) => [status, sender.address]));
    const accepting = startApp();
    await accepting.post('{"alerts":[{},7,8]}');
    expect(accepting.reported).toEqual([[2, sender]]);
    expect(accepting.answered).toEqual([[200, sender.address]]);
  });

  test.each([
    [20_000, 200],
    [20_001, 422],
  ])("takes at most 20,000 alerts in a body: %d", async (count, status) => {
    const { post, counted } = startApp();
    const response = await post(`{"alerts":[${"{},".repeat(count - 1)}{}]}`);
    expect([response.status, counted[0]]).toEqual([status, status]);
    if (status === 200) return;
    const { error } = (await response.json()) as { error: Record<string, unknown> };
    const problems = [{ path: "$.alerts", problem: "expected at most 20,000 alerts" }];
    expect(error).toMatchObject({ code: "invalid_payload", problems, problemsTotal: 1 });
  });

  test("answers a small body while large ones fill the budgets, and a large one when there is room", async () => {
    const { promise: room, resolve: makeRoom } = Promise.withResolvers<void>();
    const { post } = startApp(async (alerts) => {
      if (alerts[0]!.labels.alertname === "held") await room;
      return alerts.map(probeAnswer);
    });
    const body = (name: string, bytes: number) =>
      JSON.stringify({ labels: { alertname: name } }).padEnd(bytes, " ");
    const sized = (name: string, bytes: number) =>
      post(body(name, bytes), { "content-length": String(bytes) });
    const MIB = 1_048_576;
    const held = [8 * MIB, 8 * MIB, MIB, MIB, MIB, MIB, MIB, MIB, MIB].map((bytes) => sized("held", bytes));
    expect((await sized("small", 65_536)).status).toBe(200);
    expect((await sized("ordinary", MIB)).status).toBe(200);
    let isLargeAnswered = false;
    const large = sized("large", MIB + 1).then(({ status }) => {
      isLargeAnswered = true;
      return status;
    });
    expect((await sized("ordinary", MIB)).status).toBe(200);
    expect(isLargeAnswered).toBe(false);
    makeRoom();
    expect((await Promise.all(held)).map(({ status }) => status)).toEqual(held.map(() => 200));
    expect(await large).toBe(200);
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
  const posted = (body: BodyInit, headers: Record<string, string> = {}) =>
    new Request("http://localhost/", { method: "POST", body, headers });
  const pieces = (count: number, bytes: number) => {
    let left = count;
    return new ReadableStream({
      pull(controller) {
        if (left === 0) controller.close();
        else controller.enqueue(new Uint8Array(bytes).fill(0x20));
        left -= 1;
      },
    });
  };
  const asked = async (request: Request) => {
    const shares: number[] = [];
    const admit = async (bytes: number) => {
      shares.push(bytes);
      return true;
    };
    await readBody(request, admit);
    return shares;
  };

  test.each([
    ["a small one", () => posted("1", { "content-length": "65536" }), []],
    ["one that is not small", () => posted("1", { "content-length": "65537" }), [65_537]],
    ["the largest one", () => posted("1", { "content-length": `${MAX_BODY_BYTES}` }), [MAX_BODY_BYTES]],
    ["one that is too large", () => posted("1", { "content-length": `${MAX_BODY_BYTES + 1}` }), []],
    ["a small one without a length", () => posted(pieces(2, 32_768)), []],
    ["one without a length that is found not to be small", () => posted(pieces(5, 32_768)), [MAX_BODY_BYTES]],
  ])("asks for the share of %s", async (_what, request, shares) => {
    expect(await asked(request())).toEqual(shares);
  });

  test.each([
    ["a length", () => posted("[]", { "content-length": "65537" })],
    ["no length", () => posted(pieces(5, 32_768))],
  ])("reads no more of a body with %s that is not admitted", async (_what, request) => {
    expect(await readBody(request(), async () => false)).toEqual({ problem: "overloaded" });
  });

  test("gives up a sender that stalls", async () => {
    const stalled = new ReadableStream({ pull: () => new Promise<void>(() => {}) });
    const request = new Request("http://localhost/", { method: "POST", body: stalled });
    expect(await readBody(request, admitAll, 20)).toEqual({ problem: "timeout" });
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
    expect(await readBody(request, admitAll)).toEqual({ problem: "payload_too_large" });
    expect(given).toBeLessThan(MAX_BODY_BYTES + 400_000);
  });
});
