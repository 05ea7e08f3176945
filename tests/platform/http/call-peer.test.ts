import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { type CallRecord, callPeer, type PeerCall } from "../../../lib/platform/http/call-peer.ts";
import { type Answer, type StandIn, startStandIn } from "../../standins/standin.ts";

const usual = async (): Promise<Answer> => ({ status: 200, json: { id: "x" } });
const SECRET = "canary-of-the-http-client";
let peer: StandIn<"post" | "get">;

beforeEach(async () => {
  peer = await startStandIn(
    {
      post: { method: "POST", pattern: /^\/call$/, handle: usual },
      get: { method: "GET", pattern: /^\/call$/, handle: usual },
    },
    { notFound: () => ({ status: 404 }) },
  );
});

afterEach(async () => {
  await peer.stop();
});

function post(more: Partial<PeerCall> = {}) {
  const url = new URL("/call", peer.url);
  const headers = { authorization: `Bearer ${SECRET}` };
  return callPeer({
    peer: "test",
    method: "POST",
    url,
    headers,
    body: { a: "ü" },
    timeoutMs: 20_000,
    ...more,
  });
}

describe("callPeer()", () => {
  test("sends the body as JSON, uncompressed answers wanted", async () => {
    const result = await post();
    expect(result).toMatchObject({
      status: "answered",
      problem: null,
      answer: { status: 200, json: { id: "x" } },
    });
    const [seen] = peer.ledger;
    expect(seen).toMatchObject({ method: "POST", path: "/call", rawBody: '{"a":"ü"}' });
    expect(seen?.headers).toMatchObject({
      authorization: `Bearer ${SECRET}`,
      "content-type": "application/json",
      "accept-encoding": "identity",
      "user-agent": "opsctl",
    });
  });

  const definitive = (answer: { status: number }) => answer.status === 422 || answer.status === 503;

  test.each([
    [200, "answered"],
    [201, "answered"],
    [204, "answered"],
    [301, "ambiguous"],
    [307, "ambiguous"],
    [400, "ambiguous"],
    [404, "ambiguous"],
    [408, "ambiguous"],
    [409, "ambiguous"],
    [422, "rejected"],
    [429, "throttled"],
    [500, "ambiguous"],
    [502, "ambiguous"],
    [503, "rejected"],
  ])("takes a %i for %s", async (status, expected) => {
    peer.routes.post.next({ status, text: status === 204 ? "" : "{}", headers: { location: "/elsewhere" } });
    const result = await post({ definitive });
    expect(result).toMatchObject({ status: expected, problem: null, answer: { status } });
    expect(peer.ledger).toHaveLength(1);
  });

  test.each([408, 409, 500])("never lets a contract call a %i definitive", async (status) => {
    peer.routes.post.next({ status, json: {} });
    expect((await post({ definitive: () => true })).status).toBe("ambiguous");
  });

  test.each([
    ["drop_unread", "connection_lost"],
    ["drop", "connection_lost"],
    ["not_http", "connection_lost"],
    ["break_body", "connection_lost"],
    ["huge", "answer_too_large"],
  ] as const)("takes %s for ambiguous: %s", async (fault, problem) => {
    peer.routes.post.next(fault);
    expect(await post()).toMatchObject({ status: "ambiguous", problem });
    expect(peer.ledger).toHaveLength(1);
  });

  test.each([
    ["with its length", { "content-length": "10" }],
    ["in chunks", { "transfer-encoding": "chunked" }],
  ])("reads an answer of exactly the cap, and none that is longer: %s", async (_how, headers) => {
    const answer = { status: 200, text: "1234567890", headers: headers as Record<string, string> };
    peer.routes.post.next(answer, answer);
    expect((await post({ maxAnswerBytes: 10 })).answer?.text).toBe("1234567890");
    expect(await post({ maxAnswerBytes: 9 })).toMatchObject({ problem: "answer_too_large" });
  });

  test("leaves out a byte order mark, and takes an answer without a body for an empty one", async () => {
    peer.routes.post.next({ status: 200, text: "\uFEFF{}" }, { status: 204 });
    expect((await post()).answer).toMatchObject({ text: "{}", json: {} });
    expect((await post()).answer).toMatchObject({ text: "", json: undefined });
  });

  test("does not unpack a bomb", async () => {
    peer.routes.post.next("bomb");
    const result = await post();
    expect(result).toMatchObject({ problem: null, answer: { json: undefined } });
    expect(result.answer?.text?.length ?? 0).toBeLessThan(65_536);
  });

  test.each(["hang", "stall_body"] as const)("limits the time of the whole call: %s", async (fault) => {
    peer.routes.post.next(fault);
    expect(await post({ timeoutMs: 200 })).toMatchObject({ status: "ambiguous", problem: "timeout" });
  });

  test("keeps the status of an answer whose body broke off", async () => {
    peer.routes.post.next("break_body");
    expect((await post()).answer).toMatchObject({ status: 200, text: null, json: undefined });
  });

  test("sends nothing when it is aborted before", async () => {
    const result = await post({ signal: AbortSignal.abort() });
    expect(result).toEqual({ status: "not_sent", answer: null, problem: "aborted" });
    expect(peer.ledger).toHaveLength(0);
  });

  test("an abort after the request began proves nothing", async () => {
    const shutdown = new AbortController();
    peer.routes.post.script = () => {
      shutdown.abort();
      return "hang";
    };
    expect(await post({ signal: shutdown.signal })).toMatchObject({
      status: "ambiguous",
      problem: "aborted",
    });
  });

  test("sends nothing when the request cannot be made, and does not quote its headers", async () => {
    const result = await post({ headers: { authorization: `Bearer ${SECRET}\nx: y` } });
    expect(result).toEqual({ status: "not_sent", answer: null, problem: "request_invalid" });
    expect((await post({ url: null })).problem).toBe("request_invalid");
    expect(peer.ledger).toHaveLength(0);
  });

  test("does not follow a redirect: the secret stays with its service", async () => {
    const elsewhere = await startStandIn(
      { any: { method: "POST", pattern: /^/, handle: usual } },
      { notFound: () => ({ status: 404 }) },
    );
    for (const status of [301, 302, 303, 307, 308]) {
      peer.routes.post.next({ status, json: {}, headers: { location: `${elsewhere.url}/call` } });
      expect(await post()).toMatchObject({ status: "ambiguous", answer: { status } });
    }
    expect(elsewhere.ledger).toHaveLength(0);
    await elsewhere.stop();
  });

  test("sends credentials of the URL as a header and never as part of the address", async () => {
    const url = new URL("/call", peer.url);
    url.username = "user";
    url.password = "word";
    await callPeer({ peer: "test", method: "GET", url, headers: {}, timeoutMs: 20_000 });
    expect(peer.ledger[0]?.headers.authorization).toBe(
      `Basic ${Buffer.from("user:word").toString("base64")}`,
    );
  });

  const NOON = "Mon, 16 Mar 2026 12:00:00 GMT";
  test.each([
    [{ "retry-after": "7" }, 7_000],
    [{ "retry-after": "1.5" }, 1_500],
    [{ "retry-after": "86400" }, 3_600_000],
    [{ "retry-after": "-1" }, 1_000],
    [{ "retry-after": "soon" }, 1_000],
    [{ "retry-after": "Mon, 16 Mar 2026 12:00:09 GMT", date: NOON }, 9_000],
    [{ "retry-after": "Mon, 16 Mar 2026 11:00:00 GMT", date: NOON }, 0],
    [{ "ratelimit-reset": "3" }, 3_000],
    [{}, 1_000],
  ])("says when a throttled call may be repeated: %p", async (headers, retryAfterMs) => {
    peer.routes.post.next({ status: 429, json: {}, headers: headers as Record<string, string> });
    expect(await post()).toMatchObject({ status: "throttled", retryAfterMs });
  });

  test.each([
    ["req_123-abc", "req_123-abc"],
    ["a b", null],
    ["x".repeat(129), null],
  ])("keeps the service's request id when it is one: %p", async (id, expected) => {
    peer.routes.post.next({ status: 500, json: {}, headers: { "x-request-id": id } });
    expect((await post()).answer?.requestId).toBe(expected);
  });

  test("records the call without headers, bodies or host", async () => {
    const records: CallRecord[] = [];
    peer.routes.post.next({ status: 422, json: { message: "ana@client.example" } });
    await post({ onCall: (record) => records.push(record) });
    expect(records).toEqual([
      {
        peer: "test",
        method: "POST",
        path: "/call",
        class: "ambiguous",
        problem: null,
        status: 422,
        requestId: null,
        durationMs: expect.any(Number),
      },
    ]);
    expect(JSON.stringify(records)).not.toContain(SECRET);
  });

  test.each([
    ["11987654321", "***4321"],
    ["+55 (11) 98765-4321", "%2B***4321"],
    ["wa-5511987654321-b", "wa-***4321-b"],
    ["ops-2026", "ops-2026"],
  ])("records the instance %j as %j", async (instance, shown) => {
    const records: CallRecord[] = [];
    const url = new URL(`/message/sendText/${encodeURIComponent(instance)}`, peer.url);
    await post({ url, onCall: (record) => records.push(record) });
    expect(records.map(({ path }) => path)).toEqual([`/message/sendText/${shown}`]);
  });

  test("lets reads share a connection, and sends never", async () => {
    const get = () => post({ method: "GET", body: undefined });
    for (const call of [get, get, post, post, get]) await call();
    const [a, b, c, d, e] = peer.ledger.map((entry) => entry.connection);
    expect([b, e]).toEqual([a, a]);
    expect(new Set([a, c, d]).size).toBe(3);
  });
});
