/** Every row of the answer table over raw sockets, on Bun here and on Deno beside it, in both ways of listening. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { MAX_BODY_BYTES } from "../../../lib/webhook/http/read-body.ts";
import { request, speak } from "../../platform/support/raw-http.ts";
import { PROBE_SECRET } from "../support/app-probe.ts";
import { startProbes, WAYS } from "../support/probe-ways.ts";

let probes: Awaited<ReturnType<typeof startProbes>>;

beforeAll(async () => {
  probes = await startProbes();
});

afterAll(() => probes.stop());

const OWN = `X-Webhook-Secret: ${PROBE_SECRET}`;
const JSON_TYPE = "Content-Type: application/json";
const GOOD = [OWN, JSON_TYPE];
const simple = (more: object = {}) =>
  JSON.stringify({ status: "resolved", labels: { alertname: "A" }, ...more });
const post = (headers: string[], body: string | Uint8Array = simple()) =>
  request("POST /webhook", headers, body);
const padded = (bytes: number) => simple() + " ".repeat(bytes - simple().length);

function chunked(body: string, size = 60_000): string {
  const chunks = body.match(new RegExp(`.{1,${size}}`, "gs")) ?? [];
  return `${chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join("")}0\r\n\r\n`;
}

const CHUNKED = "Transfer-Encoding: chunked";
const deep = (depth: number) =>
  simple({ x: 0 }).replace('"x":0', `"x":${"[".repeat(depth)}${"]".repeat(depth)}`);

const table: [string, Buffer, number, string?][] = [
  ["the secret in its own header", post(GOOD), 200],
  ["the secret as a bearer token", post([`Authorization: Bearer ${PROBE_SECRET}`, JSON_TYPE]), 200],
  ["both headers right", post([...GOOD, `Authorization: bearer ${PROBE_SECRET}`]), 200],
  [
    "blanks around the header's value, which HTTP drops",
    post([`X-Webhook-Secret:  ${PROBE_SECRET} \t`]),
    200,
  ],
  ["no secret", post([JSON_TYPE]), 401, "invalid_secret"],
  ["an empty secret", post(["X-Webhook-Secret:", JSON_TYPE]), 401, "invalid_secret"],
  ["a wrong secret", post(["X-Webhook-Secret: nope", JSON_TYPE]), 401, "invalid_secret"],
  ["a prefix", post([OWN.slice(0, -1)]), 401, "invalid_secret"],
  ["a suffix", post([`${OWN}x`]), 401, "invalid_secret"],
  ["another case", post([`X-Webhook-Secret: ${PROBE_SECRET.toUpperCase()}`]), 401, "invalid_secret"],
  ["a percent-encoded secret", post([`X-Webhook-Secret: ${encodeURI(PROBE_SECRET)}`]), 401, "invalid_secret"],
  ["quotes around it", post([`X-Webhook-Secret: "${PROBE_SECRET}"`]), 401, "invalid_secret"],
  ["the right header sent twice", post([OWN, OWN]), 401, "invalid_secret"],
  ["the header twice, wrong then right", post(["X-Webhook-Secret: a", OWN]), 401, "invalid_secret"],
  ["the header twice, right then empty", post([OWN, "X-Webhook-Secret:"]), 401, "invalid_secret"],
  ["one header right, the other wrong", post([OWN, "Authorization: Bearer nope"]), 401, "invalid_secret"],
  ["another scheme beside the right header", post([OWN, "Authorization: Basic eDp5"]), 401, "invalid_secret"],
  ["the secret without its scheme", post([`Authorization: ${PROBE_SECRET}`]), 401, "invalid_secret"],
  ["a wrong secret before everything else", post(["Content-Type: text/xml"], "{"), 401, "invalid_secret"],
  ["a query", request("POST /webhook?x=1", GOOD, simple()), 200],
  ["an absolute target", request("POST http://elsewhere/webhook", GOOD, simple()), 200],
  ["a slash at the end", request("POST /webhook/", GOOD, simple()), 404, "not_found"],
  ["another case of the path", request("POST /Webhook", GOOD, simple()), 404, "not_found"],
  ["two slashes", request("POST //webhook", GOOD, simple()), 404, "not_found"],
  ["a path that would be tidied", request("POST /a/../webhook", GOOD, simple()), 404, "not_found"],
  ["an encoded letter", request("POST /%77ebhook", GOOD, simple()), 404, "not_found"],
  ["the root", request("GET /"), 404, "not_found"],
  ["a path of the other port", request("GET /healthz"), 404, "not_found"],
  ["GET", request("GET /webhook", GOOD), 405, "method_not_allowed"],
  ["PUT without a secret", request("PUT /webhook", [], "{}"), 405, "method_not_allowed"],
  ["OPTIONS", request("OPTIONS /webhook"), 405, "method_not_allowed"],
  ["DELETE", request("DELETE /webhook"), 405, "method_not_allowed"],
  ["TRACE", request("TRACE /webhook"), 405, "method_not_allowed"],
  ["parameters and case of the type", post([OWN, "Content-Type: APPLICATION/json ; charset=x"]), 200],
  ["a JSON dialect", post([OWN, "Content-Type: application/vnd.alert+json"]), 200],
  ["no content type", post([OWN]), 200],
  ["a question with a body", post([OWN, "Content-Type: application/vnd.opsctl.question"], "{}"), 415],
  ["another type", post([OWN, "Content-Type: text/plain"]), 415, "unsupported_media_type"],
  ["a form", post([OWN, "Content-Type: application/x-www-form-urlencoded"]), 415, "unsupported_media_type"],
  ["two types", post([...GOOD, "Content-Type: text/plain"]), 415, "unsupported_media_type"],
  [
    "a compressed body",
    post([...GOOD, "Content-Encoding: gzip"], Bun.gzipSync(simple())),
    415,
    "unsupported_media_type",
  ],
  ["a body that says it is not compressed", post([...GOOD, "Content-Encoding: identity"]), 200],
  ["the largest body", post(GOOD, padded(MAX_BODY_BYTES)), 200],
  ["one byte more", post(GOOD, padded(MAX_BODY_BYTES + 1)), 413, "payload_too_large"],
  ["the largest body in chunks", post([...GOOD, CHUNKED], chunked(padded(MAX_BODY_BYTES))), 200],
  [
    "one byte more in chunks",
    post([...GOOD, CHUNKED], chunked(padded(MAX_BODY_BYTES + 1))),
    413,
    "payload_too_large",
  ],
  ["an empty body", post(GOOD, ""), 400, "invalid_json"],
  ["truncated JSON", post(GOOD, '{"alerts":['), 400, "invalid_json"],
  ["invalid UTF-8", post(GOOD, Uint8Array.of(0x22, 0xff, 0x22)), 400, "invalid_json"],
  ["a byte order mark", post(GOOD, `\ufeff${simple()}`), 200],
  ["text", post(GOOD, "hello"), 400, "invalid_json"],
  ["an empty object", post(GOOD, "{}"), 422, "invalid_payload"],
  ["an empty array", post(GOOD, "[]"), 422, "invalid_payload"],
  ["null", post(GOOD, "null"), 422, "invalid_payload"],
  ["a string", post(GOOD, '"x"'), 422, "invalid_payload"],
  ["alerts that are no list", post(GOOD, '{"alerts":{}}'), 422, "invalid_payload"],
  ["nothing but bad alerts", post(GOOD, '{"alerts":[7,null]}'), 422, "invalid_payload"],
  ["a full disk", post(GOOD, simple({ labels: { alertname: "full" } })), 503, "state_unavailable"],
  ["a bug", post(GOOD, simple({ labels: { alertname: "bug" } })), 503, "internal"],
];

/** Bun takes a missing last parameter for a callback. */
const rows = table.map(([what, bytes, status, code]) => ({ what, bytes, status, code }));

describe.each(WAYS)("the webhook's answers on %s", (way) => {
  const say = (bytes: Buffer) => speak(probes.ports[way], [bytes]);

  test.concurrent.each(rows)("$what: $status", async ({ bytes, status, code }) => {
    const { status: seen, head, body, ended } = await say(bytes);
    expect(seen).toBe(status);
    expect(ended).toBe(true);
    expect(head.toLowerCase()).toContain("content-type: application/json");
    expect(head.toLowerCase()).toContain("cache-control: no-store");
    if (code !== undefined) {
      const { error } = JSON.parse(body);
      expect(error).toMatchObject({ code, message: expect.any(String) });
      expect(body).not.toContain("a detail that nobody may see");
    }
    if (status === 405) expect(head).toMatch(/^allow: POST$/im);
    if (status === 503) expect(head).toMatch(/^retry-after: \d+$/im);
    if (status === 422)
      expect(JSON.parse(body).error.problems[0]).toEqual({
        path: expect.any(String),
        problem: expect.any(String),
      });
  });

  test("answers an absent and a wrong secret alike", async () => {
    const [absent, wrong] = [await say(post([])), await say(post(["X-Webhook-Secret: nope"]))];
    expect(absent.body).toBe(wrong.body);
    expect(absent.body).toBe(
      '{"error":{"code":"invalid_secret","message":"The webhook secret is absent or wrong"}}',
    );
  });

  test("answers the question whether the secret is right with a head alone, without a length", async () => {
    const question = post([OWN, "Content-Type: application/vnd.opsctl.question", "Connection: close"], "");
    const { status, head, body } = await say(question);
    expect([status, body]).toEqual([204, ""]);
    expect(head).not.toMatch(/^(?:content-length|transfer-encoding):/im);
  });

  test("answers HEAD without a body", async () => {
    const { status, head, body } = await say(request("HEAD /webhook"));
    expect([status, body]).toEqual([405, ""]);
    expect(head).toMatch(/^allow: POST$/im);
  });

  test("lists the first hundred of half a million bad alerts, and counts them", async () => {
    const { status, body } = await say(post(GOOD, `{"alerts":[${"1,".repeat(500_000)}1]}`));
    expect([status, body.length < 10_000]).toEqual([422, true]);
    const { problems, problemsTotal } = JSON.parse(body).error;
    expect([problems.length, problems[99].path, problemsTotal]).toEqual([100, "$.alerts[99]", 500_001]);
  });

  test("says exactly what was accepted and what was not", async () => {
    const body = JSON.stringify({ alerts: [JSON.parse(simple({ fingerprint: "f" })), 7] });
    expect(JSON.parse((await say(post(GOOD, body))).body)).toEqual({
      accepted: 1,
      rejected: [{ index: 1, problems: [expect.any(String)] }],
      rejectedTotal: 1,
      alerts: [
        {
          alertname: "A",
          status: "resolved",
          squad: "geral",
          fingerprint: "f",
          whatsapp: "queued",
          issue: "not_firing",
        },
      ],
    });
    const nothing = '{"accepted":0,"rejected":[],"rejectedTotal":0,"alerts":[]}';
    expect((await say(post(GOOD, '{"alerts":[]}'))).body).toBe(nothing);
  });

  test("survives what nests deep", async () => {
    expect([200, 400]).toContain((await say(post(GOOD, deep(100_000)))).status);
    expect([200, 400]).toContain((await say(post(GOOD, deep(500_000)))).status);
    expect((await say(post(GOOD))).status).toBe(200);
  });

  const endless = async function* (headers: string[], piece: Buffer) {
    yield request("POST /webhook", headers);
    while (true) yield piece;
  };
  const isAnswered = (text: string) => text.endsWith("}");

  test("answers a wrong secret before its body has come", async () => {
    const waiting = await speak(
      probes.ports[way],
      [request("POST /webhook", ["Content-Length: 900"])],
      isAnswered,
    );
    expect(waiting.status).toBe(401);
    expect(waiting.head).toMatch(/^connection: close$/im);
  });

  test("answers a body that is announced as too large before it has come", async () => {
    const headers = [...GOOD, `Content-Length: ${MAX_BODY_BYTES + 1}`];
    expect((await speak(probes.ports[way], [request("POST /webhook", headers)], isAnswered)).status).toBe(
      413,
    );
  });

  test.concurrent.each([
    ["a wrong secret", 401, ["Content-Length: 900000000000"], Buffer.alloc(65_536, 97)],
    ["a wrong secret, in chunks", 401, [CHUNKED], Buffer.from(chunked("a".repeat(60_000)).slice(0, -5))],
    ["an endless body", 413, [...GOOD, CHUNKED], Buffer.from(chunked("a".repeat(60_000)).slice(0, -5))],
  ])("closes the connection of %s that never ends", async (_what, status, headers, piece) => {
    let taken = 0;
    const counted = async function* () {
      for await (const part of endless(headers, piece)) {
        taken += part.byteLength;
        yield part;
      }
    };
    const answer = await speak(probes.ports[way], counted());
    expect(answer.status).toBe(status);
    expect(taken).toBeLessThan(64 * 1_048_576);
  });

  test("is not held up by a slow sender, nor by one that gives up", async () => {
    const body = simple();
    const [start, ...bytes] = [
      request("POST /webhook", [...GOOD, `Content-Length: ${body.length}`]),
      ...body,
    ];
    let fast = 0;
    const slowly = async function* () {
      yield start;
      for (const byte of bytes) {
        yield byte;
        expect((await say(post(GOOD))).status).toBe(200);
        fast += 1;
      }
    };
    expect((await speak(probes.ports[way], slowly())).status).toBe(200);
    expect(fast).toBe(body.length);
    const leaver = connect({ port: probes.ports[way], host: "127.0.0.1" });
    const half = request("POST /webhook", [...GOOD, "Content-Length: 9000"], "{");
    await new Promise((resolve) => leaver.write(half, resolve));
    leaver.destroy();
    expect((await say(post(GOOD))).status).toBe(200);
  });
});
