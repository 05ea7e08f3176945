/** What is logged and counted of requests that are refused, and what /healthz says of posts from outside. */
import { describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { request, speak } from "../../platform/support/raw-http.ts";
import { onFailingStores, startFailing } from "../support/failing-store.ts";
import { alertBody } from "../support/raw-service.ts";
import { PHONE, SECRET } from "../support/settings.ts";
import { alertOf, MINUTE_MS, type Service, startService } from "../support/start-service.ts";

const OWN = `X-Webhook-Secret: ${SECRET}`;
const PROXY = "X-Forwarded-For: 198.51.100.1, 203.0.113.9";

const portOf = ({ url }: Service) => Number(new URL(url).port);
const say = (service: Service, bytes: Uint8Array) => speak(portOf(service), [bytes]);
const post = (headers: string[], body = "{}") => request("POST /webhook", headers, body);

/** The lines about requests, without what every line has. */
function linesOf({ log }: Service) {
  return log.filter(({ level }) => level === "warn").map(({ level: _, second: __, ...line }) => line);
}

const requests = async (service: Service, status: number) =>
  await service.metric(`opsctl_webhook_requests_total{status="${status}"}`);

type Row = [what: string, bytes: Buffer, status: number, code: string | null];

const HEAD = "POST /webhook HTTP/1.1\r\nHost: x\r\n";
const asIs = (text: string) => Buffer.from(text, "latin1");
const MALFORMED = asIs(`\u0016\u0003\u0001\u0002${"\u0000".repeat(300)}\r\n\r\n`);

/** Without a code: a stranger who looks around, of whom nothing is logged. */
const REFUSED: Row[] = [
  ["no secret", post([]), 401, "invalid_secret"],
  ["an empty secret, while there is no previous one", post(["X-Webhook-Secret:"]), 401, "invalid_secret"],
  ["bytes that are no JSON", post([OWN], "{"), 400, "invalid_json"],
  ["a body that is too large", post([OWN, "Content-Length: 9000000"], ""), 413, "payload_too_large"],
  ["another type", post([OWN, "Content-Type: text/plain"]), 415, "unsupported_media_type"],
  ["no alert", post([OWN]), 422, "invalid_payload"],
  ["another path with the secret", request("POST /webhook/", [OWN], "{}"), 404, "not_found"],
  ["another method with the secret", request("PUT /webhook", [OWN], "{}"), 405, "method_not_allowed"],
  ["another path without the secret", request("POST /webhook/", [], "{}"), 404, null],
  ["another method without the secret", request("PUT /webhook", [], "{}"), 405, null],
  ["bytes that are no HTTP", MALFORMED, 400, "malformed_request"],
  ["two lengths", asIs(`${HEAD}Content-Length: 5\r\nContent-Length: 0\r\n\r\n`), 400, "malformed_request"],
  ["a head that is too large", asIs(`${HEAD}X-A: ${"a".repeat(20_000)}\r\n\r\n`), 431, null],
];

describe("a refused request", () => {
  test("is counted, and logged with its code and its sender, but a stranger's that looks around", async () => {
    await using service = await startService();
    for (const [what, bytes, status, code] of REFUSED) {
      const before = (await requests(service, status)) ?? 0;
      service.log.length = 0;
      await say(service, bytes);
      const sender = { address: "127.0.0.1", forwardedFor: null };
      const line = code !== null && { msg: "A request was refused", status, code, ...sender };
      expect({ what, lines: linesOf(service) }).toEqual({ what, lines: line ? [line] : [] });
      expect([what, await requests(service, status)]).toEqual([what, before + 1]);
      await service.advance(60_000);
    }
  });

  test.each([
    ["198.51.100.1, 203.0.113.9", "203.0.113.9"],
    ["10.0.0.1, 2001:db8::7", "2001:db8::7"],
    ["203.0.113.9, unknown", null],
    ["203.0.113.9:4711", null],
    ["canary <script>", null],
    [",", null],
  ])("forwarded for %p is logged as forwarded for %p", async (header, forwardedFor) => {
    await using service = await startService();
    await say(service, post([`X-Forwarded-For: ${header}`]));
    expect(linesOf(service)).toMatchObject([{ address: "127.0.0.1", forwardedFor }]);
  });

  test("has one of ten lines in a minute, at whose end one says what the others were", async () => {
    await using service = await startService();
    const times = async (count: number, bytes: Uint8Array) => {
      for (let at = 0; at < count; at += 1) await say(service, bytes);
    };
    await times(9, post([]));
    await times(3, MALFORMED);
    await times(4, post([]));
    expect(linesOf(service)).toHaveLength(10);
    await service.advance(60_000);
    const more = { msg: "More was refused in the last minute", entries: 0 };
    expect(linesOf(service).slice(10)).toEqual([
      { ...more, requests: { malformed_request: 2, invalid_secret: 4 } },
    ]);
    await service.advance(60_000);
    expect(linesOf(service)).toHaveLength(11);
    await times(11, post([]));
    await service.stop();
    expect(linesOf(service).at(-1)).toEqual({ ...more, requests: { invalid_secret: 1 } });
  });

  test("is not one that breaks off, nor what comes behind a refusal", async () => {
    await using service = await startService();
    const broken = connect(portOf(service), "127.0.0.1");
    await new Promise((resolve) => broken.write(HEAD, resolve));
    broken.resetAndDestroy();
    await say(service, Buffer.concat([post([]), asIs("\u0000\u0000\r\n\r\n")]));
    expect(linesOf(service)).toMatchObject([{ code: "invalid_secret" }]);
    expect([await requests(service, 400), await requests(service, 401)]).toEqual([0, 1]);
  });
});

test("entries of an accepted request that are no alerts are counted, and logged with their sender", async () => {
  await using service = await startService();
  const { status } = await say(service, post([OWN], `{"alerts":[${alertBody()},7,8]}`));
  expect(status).toBe(200);
  const line = { msg: "Entries of an accepted request are no alerts", entries: 2, forwardedFor: null };
  expect(linesOf(service)).toMatchObject([line]);
  expect(await service.metric("opsctl_webhook_alerts_rejected_total")).toBe(2);
});

describe("the last post from outside", () => {
  const AT = "2026-11-16T14:00:07.000Z";

  test.each([
    ["accepted", [OWN, PROXY], { acceptedAt: AT, secretRefusedAt: null }],
    ["refused for its secret", [PROXY], { acceptedAt: null, secretRefusedAt: AT }],
    ["accepted, of this host", [OWN], { acceptedAt: null, secretRefusedAt: null }],
    ["refused for its secret, of this host", [], { acceptedAt: null, secretRefusedAt: null }],
  ])("%s, is what /healthz says of it", async (_, headers, posts) => {
    await using service = await startService();
    await service.advance(7_000);
    await say(service, post(headers, '{"alerts":[]}'));
    expect((await service.health()).posts).toEqual(posts);
  });

  test("is shown on the page when it brought another secret, until one is accepted", async () => {
    await using service = await startService();
    const isShown = async () => (await service.get("/")).text.includes("foi recusada: o segredo não confere");
    await say(service, post([PROXY]));
    expect(await isShown()).toBe(true);
    await service.advance(1_000);
    await say(service, post([OWN, PROXY], '{"alerts":[]}'));
    expect(await isShown()).toBe(false);
  });
});

onFailingStores(
  "a post that can neither be stored nor sent gets 503 and Retry-After, and each of its alerts is sent once in the end",
  async (store) => {
    await using service = await startFailing({ store });
    service.gateway.absentNumbers.add(PHONE);
    service.failStore();
    const alerts = [alertOf("a"), alertOf("b", { status: "resolved" })];
    const { status, head, body } = await service.patiently(
      say(service, post([OWN], JSON.stringify({ alerts }))),
    );
    expect([status, JSON.parse(body).error.code]).toEqual([503, "state_unavailable"]);
    expect(head).toMatch(/^retry-after: 10$/im);

    service.restoreStore();
    service.gateway.absentNumbers.clear();
    // Posted again it is stored, and sent once.
    const again = await service.post(alerts);
    expect(again).toMatchObject({ status: 200, body: { accepted: 2 } });
    await service.advance(30 * MINUTE_MS, 10_000);
    expect(service.messages.map(({ name }) => name).toSorted()).toEqual(["a", "b"]);
    expect(await service.operator.queued()).toEqual([]);
    expect((await service.health()).message).toMatchObject({ queued: 0, dead: 0, unknown: 0 });
  },
);
