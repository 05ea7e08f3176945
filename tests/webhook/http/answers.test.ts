/** What the webhook answers, over raw sockets: secrets, paths, methods, types, sizes and bodies. */
import { describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { request, speak } from "../../platform/support/raw-http.ts";
import { alertBody, CHUNKED, chunked, OWN, post, rawService, SECRET } from "../support/raw-service.ts";
import { startService } from "../support/start-service.ts";

const PREVIOUS = "the-secret-before";
const raw = rawService(() => startService({ secret: SECRET, previousSecret: PREVIOUS }));

const MIB = 1_048_576;
const MAX_BODY_BYTES = 8 * MIB;
const JSON_TYPE = "Content-Type: application/json";
const GOOD = [OWN, JSON_TYPE];
const QUESTION = "Content-Type: application/vnd.opsctl.question";
const padded = (bytes: number) => alertBody() + " ".repeat(bytes - alertBody().length);
const target = (start: string, headers = GOOD) => request(start, headers, alertBody());
const deep = (depth: number) =>
  alertBody({ x: 0 }).replace('"x":0', `"x":${"[".repeat(depth)}${"]".repeat(depth)}`);

type Row = [what: string, bytes: Buffer, status: number, code: string | null];

const refusedSecret = (what: string, headers: string[]): Row => [what, post(headers), 401, "invalid_secret"];
const taken = (what: string, bytes: Buffer): Row => [what, bytes, 200, null];

const SECRETS: Row[] = [
  taken("the secret in its own header", post(GOOD)),
  taken("the secret as a bearer token", post([`Authorization: Bearer ${SECRET}`])),
  taken("the bearer scheme in small letters, after blanks", post([`Authorization: bearer   ${SECRET}`])),
  taken("both headers right", post([...GOOD, `Authorization: bearer ${SECRET}`])),
  taken("blanks around the header's value, which HTTP drops", post([`X-Webhook-Secret:  ${SECRET} \t`])),
  taken("the previous secret", post([`X-Webhook-Secret: ${PREVIOUS}`])),
  taken(
    "the new secret in one header and the previous in the other",
    post([OWN, `Authorization: Bearer ${PREVIOUS}`]),
  ),
  refusedSecret("no secret", [JSON_TYPE]),
  refusedSecret("an empty secret", ["X-Webhook-Secret:"]),
  refusedSecret("an empty bearer token", ["Authorization: Bearer "]),
  refusedSecret("a wrong secret", ["X-Webhook-Secret: nope"]),
  refusedSecret("a prefix", [OWN.slice(0, -1)]),
  refusedSecret("a suffix", [`${OWN}x`]),
  refusedSecret("a prefix of the previous secret", [`X-Webhook-Secret: ${PREVIOUS.slice(0, -1)}`]),
  refusedSecret("another case", [`X-Webhook-Secret: ${SECRET.toUpperCase()}`]),
  refusedSecret("a percent-encoded secret", [`X-Webhook-Secret: ${encodeURI(SECRET)}`]),
  refusedSecret("a letter with an accent", [`X-Webhook-Secret: ${SECRET.replace("e", "é")}`]),
  refusedSecret("quotes around it", [`X-Webhook-Secret: "${SECRET}"`]),
  refusedSecret("the right header sent twice", [OWN, OWN]),
  refusedSecret("the header twice, wrong then right", ["X-Webhook-Secret: a", OWN]),
  refusedSecret("the header twice, right then empty", [OWN, "X-Webhook-Secret:"]),
  refusedSecret("one header right, the other wrong", [OWN, "Authorization: Bearer nope"]),
  refusedSecret("one header wrong, the other right", [
    "X-Webhook-Secret: no",
    `Authorization: Bearer ${SECRET}`,
  ]),
  refusedSecret("another scheme beside the right header", [OWN, "Authorization: Basic eDp5"]),
  refusedSecret("the secret without its scheme", [`Authorization: ${SECRET}`]),
  ["a wrong secret before everything else", post(["Content-Type: text/xml"], "{"), 401, "invalid_secret"],
];

const TARGETS: Row[] = [
  taken("a query", target("POST /webhook?x=1")),
  taken("an absolute target", target("POST http://elsewhere/webhook")),
  ["a slash at the end", target("POST /webhook/"), 404, "not_found"],
  ["another case of the path", target("POST /Webhook"), 404, "not_found"],
  ["two slashes", target("POST //webhook"), 404, "not_found"],
  ["a path that would be tidied", target("POST /a/../webhook"), 404, "not_found"],
  ["an encoded letter", target("POST /%77ebhook"), 404, "not_found"],
  ["the root", request("GET /"), 404, "not_found"],
  ["a path of the other port", request("GET /healthz"), 404, "not_found"],
  ["GET", request("GET /webhook", GOOD), 405, "method_not_allowed"],
  ["PUT without a secret", request("PUT /webhook", [], "{}"), 405, "method_not_allowed"],
  ["OPTIONS", request("OPTIONS /webhook"), 405, "method_not_allowed"],
  ["DELETE", request("DELETE /webhook"), 405, "method_not_allowed"],
  ["TRACE", request("TRACE /webhook"), 405, "method_not_allowed"],
];

const typed = (...types: string[]) => post([OWN, ...types.map((type) => `Content-Type: ${type}`)]);

const TYPES: Row[] = [
  taken("parameters and case of the type", typed("APPLICATION/json ; charset=x")),
  taken("a JSON dialect", typed("application/vnd.alert+json")),
  taken("no content type", typed()),
  taken("a body that says it is not compressed", post([...GOOD, "Content-Encoding: identity"])),
  ["a question with a body", post([OWN, QUESTION], "{}"), 415, "unsupported_media_type"],
  ["a question with chunks", post([OWN, QUESTION, CHUNKED], chunked("{}")), 415, "unsupported_media_type"],
  ["another type", typed("text/plain"), 415, "unsupported_media_type"],
  ["a form", typed("application/x-www-form-urlencoded"), 415, "unsupported_media_type"],
  ["two types", typed("application/json", "text/plain"), 415, "unsupported_media_type"],
  [
    ...(["a compressed body", post([...GOOD, "Content-Encoding: gzip"], Bun.gzipSync(alertBody()))] as const),
    ...([415, "unsupported_media_type"] as const),
  ],
];

const tooLarge = MAX_BODY_BYTES + 1;
const list = (count: number) => `{"alerts":[${"{},".repeat(count - 1)}{}]}`;

const BODIES: Row[] = [
  taken("the largest body", post(GOOD, padded(MAX_BODY_BYTES))),
  taken("the largest body in chunks", post([...GOOD, CHUNKED], chunked(padded(MAX_BODY_BYTES)))),
  taken("a byte order mark", post(GOOD, `\ufeff${alertBody()}`)),
  ["one byte more", post(GOOD, padded(tooLarge)), 413, "payload_too_large"],
  ["one byte more in chunks", post([...GOOD, CHUNKED], chunked(padded(tooLarge))), 413, "payload_too_large"],
  ["an empty body", post(GOOD, ""), 400, "invalid_json"],
  ["truncated JSON", post(GOOD, '{"alerts":['), 400, "invalid_json"],
  ["invalid UTF-8", post(GOOD, Uint8Array.of(0x22, 0xff, 0x22)), 400, "invalid_json"],
  ["text", post(GOOD, "hello"), 400, "invalid_json"],
  ["an empty object", post(GOOD, "{}"), 422, "invalid_payload"],
  ["an empty array", post(GOOD, "[]"), 422, "invalid_payload"],
  ["null", post(GOOD, "null"), 422, "invalid_payload"],
  ["a string", post(GOOD, '"x"'), 422, "invalid_payload"],
  ["alerts that are no list", post(GOOD, '{"alerts":{}}'), 422, "invalid_payload"],
  ["nothing but bad alerts", post(GOOD, '{"alerts":[7,null]}'), 422, "invalid_payload"],
  ["more than 20,000 alerts", post(GOOD, list(20_001)), 422, "invalid_payload"],
];

describe("the webhook answers", () => {
  const rows = [...SECRETS, ...TARGETS, ...TYPES, ...BODIES];
  test.each(rows)("%s", async (_, bytes, status, code) => {
    const { status: seen, head, body, ended } = await raw.patiently(raw.say(bytes));
    expect([seen, ended]).toEqual([status, true]);
    expect(head.toLowerCase()).toContain("content-type: application/json");
    expect(head.toLowerCase()).toContain("cache-control: no-store");
    const answer = JSON.parse(body);
    if (code === null) expect(answer).toMatchObject({ accepted: 1, rejected: [], rejectedTotal: 0 });
    else expect(answer.error).toMatchObject({ code, message: expect.any(String) });
    expect(/^allow: POST$/im.test(head)).toBe(status === 405);
    if (status === 422)
      expect(answer.error.problems[0]).toEqual({ path: expect.any(String), problem: expect.any(String) });
  });

  test("an absent and a wrong secret alike", async () => {
    const answer = '{"error":{"code":"invalid_secret","message":"The webhook secret is absent or wrong"}}';
    for (const headers of [[], ["X-Webhook-Secret: nope"]])
      expect((await raw.say(post(headers))).body).toBe(answer);
  });

  test("the question whether the secret is right with a head alone, and keeps nothing of it", async () => {
    const { status, head, body } = await raw.say(post([OWN, QUESTION], ""));
    expect([status, body]).toEqual([204, ""]);
    expect(head).not.toMatch(/^(?:content-length|transfer-encoding):/im);
    expect((await raw.say(post([QUESTION, "X-Webhook-Secret: wrong"], ""))).status).toBe(401);
  });

  test("HEAD without a body", async () => {
    const { status, head, body } = await raw.say(request("HEAD /webhook"));
    expect([status, body]).toEqual([405, ""]);
    expect(head).toMatch(/^allow: POST$/im);
  });

  test.each([
    ["alone", "", 422],
    ["beside a good one", `${alertBody()},`, 200],
  ])("half a million bad alerts %s with the first hundred and their number", async (_, good, status) => {
    const bytes = post(GOOD, `{"alerts":[${good}${"1,".repeat(499_999)}1]}`);
    const answer = await raw.patiently(raw.say(bytes));
    expect([answer.status, answer.body.length < 10_000]).toEqual([status, true]);
    const {
      error,
      rejected = error?.problems,
      rejectedTotal = error?.problemsTotal,
    } = JSON.parse(answer.body);
    expect([rejected.length, rejectedTotal]).toEqual([100, 500_000]);
  });

  test("exactly what was accepted and what was not", async () => {
    const body = JSON.stringify({ alerts: [JSON.parse(alertBody({ fingerprint: "f" })), 7] });
    expect(JSON.parse((await raw.patiently(raw.say(post(GOOD, body)))).body)).toEqual({
      accepted: 1,
      rejected: [{ index: 1, problems: [expect.any(String)] }],
      rejectedTotal: 1,
      alerts: [
        {
          ...{ alertname: "A", status: "resolved", squad: "geral", fingerprint: "f" },
          ...{ whatsapp: "sent", issue: "not_firing" },
        },
      ],
    });
    const nothing = '{"accepted":0,"rejected":[],"rejectedTotal":0,"alerts":[]}';
    expect((await raw.say(post(GOOD, '{"alerts":[]}'))).body).toBe(nothing);
  });

  test("what nests deep, and lives", async () => {
    for (const depth of [100_000, 500_000])
      expect([200, 400]).toContain((await raw.patiently(raw.say(post(GOOD, deep(depth))))).status);
    expect((await raw.patiently(raw.say(post(GOOD)))).status).toBe(200);
  });
});

describe("the webhook, of a body that has not come yet,", () => {
  const isAnswered = (text: string) => text.endsWith("}");
  const early = (headers: string[]) => speak(raw.port, [request("POST /webhook", headers)], isAnswered);

  test("refuses a wrong secret before it reads", async () => {
    const { status, head } = await early(["Content-Length: 900"]);
    expect(status).toBe(401);
    expect(head).toMatch(/^connection: close$/im);
  });

  test("refuses one that is announced as too large before it reads", async () => {
    expect((await early([...GOOD, `Content-Length: ${tooLarge}`])).status).toBe(413);
  });

  const piece = Buffer.from(chunked("a".repeat(60_000)).slice(0, -5));
  test.each([
    ["a wrong secret", 401, ["Content-Length: 900000000000"], Buffer.alloc(65_536, 97)],
    ["a wrong secret, in chunks", 401, [CHUNKED], piece],
    ["the right secret, in chunks", 413, [...GOOD, CHUNKED], piece],
  ])("closes the connection of one with %s that never ends", async (_, status, headers, part) => {
    let sent = 0;
    const endless = async function* () {
      yield request("POST /webhook", headers);
      for (;;) {
        sent += part.byteLength;
        yield part;
      }
    };
    expect((await speak(raw.port, endless())).status).toBe(status);
    expect(sent).toBeLessThan(64 * MIB);
  });

  test("answers others while one comes byte by byte, and after another broke off", async () => {
    const body = alertBody();
    const slowly = async function* () {
      yield request("POST /webhook", [...GOOD, `Content-Length: ${body.length}`]);
      for (const byte of body) {
        yield byte;
        expect((await raw.say(post(GOOD, '{"alerts":[]}'))).status).toBe(200);
      }
    };
    expect((await raw.patiently(speak(raw.port, slowly()))).status).toBe(200);
    const leaver = connect({ port: raw.port, host: "127.0.0.1" });
    await new Promise((resolve) => leaver.write(post([...GOOD, "Content-Length: 9000"], "{"), resolve));
    leaver.destroy();
    expect((await raw.say(post(GOOD, '{"alerts":[]}'))).status).toBe(200);
  });

  test("takes small ones while large ones fill the memory, and others when there is room", async () => {
    const { promise: end, resolve: letEnd } = Promise.withResolvers<void>();
    const body = (bytes: number) => '{"alerts":[]}'.padEnd(bytes, " ");
    const sized = (bytes: number) => raw.say(post(GOOD, body(bytes)));
    const begun: Promise<void>[] = [];
    const held = Array.from({ length: 3 }, () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      begun.push(promise);
      const slowly = async function* () {
        yield request("POST /webhook", [...GOOD, `Content-Length: ${MAX_BODY_BYTES}`]);
        yield body(MAX_BODY_BYTES).slice(0, -1);
        resolve();
        await end;
        yield " ";
      };
      return speak(raw.port, slowly());
    });
    await Promise.all(begun);
    let answered = 0;
    const waiting = [70 * 1024, MIB].map(async (bytes) => {
      const { status } = await sized(bytes);
      answered += 1;
      return status;
    });
    expect((await sized(65_536)).status).toBe(200);
    expect(answered).toBe(0);
    letEnd();
    expect((await Promise.all(held)).map(({ status }) => status)).toEqual(held.map(() => 200));
    expect(await Promise.all(waiting)).toEqual([200, 200]);
  });
});
