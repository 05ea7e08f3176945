/** Requests that no honest sender makes, over raw sockets. */
import { describe, expect, test } from "bun:test";
import { once } from "node:events";
import { connect } from "node:net";
import { request } from "../../platform/support/raw-http.ts";
import { alertBody, CHUNKED, OWN, post as postOf, rawService, SECRET } from "../support/raw-service.ts";
import { startService } from "../support/start-service.ts";

const raw = rawService(() => startService({ secret: SECRET }));

const ALERT = alertBody();
const good = postOf();
const SMUGGLED = "POST /webhook HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";

/** A request exactly as given, with its faults. */
const bytesOf = (start: string, headers: string[], body = "") =>
  `${[start, ...headers].join("\r\n")}\r\n\r\n${body}`;
const post = (headers: string[], body = "") =>
  bytesOf("POST /webhook HTTP/1.1", ["Host: x", OWN, ...headers], body);

const refused: [what: string, text: string, status: number][] = [
  ["HTTP/2.0", bytesOf("POST /webhook HTTP/2.0", ["Host: x", OWN]), 505],
  ["HTTP/0.9", bytesOf("GET /webhook HTTP/0.9", ["Host: x"]), 505],
  ["HTTP/2's own preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400],
  ["no version", bytesOf("GET /webhook", ["Host: x"]), 505],
  ["no host", bytesOf("POST /webhook HTTP/1.1", [OWN, "Content-Length: 0"]), 400],
  ["two hosts", post(["Host: y", "Content-Length: 0"]), 400],
  ["two hosts of HTTP/1.0", bytesOf("POST /webhook HTTP/1.0", ["Host: x", "host: x", OWN]), 400],
  ["an expectation that is unknown", post(["Expect: a-miracle", "Content-Length: 2"], "{}"), 417],
  ["a length and chunks", post(["Content-Length: 5", CHUNKED], `0\r\n\r\n${SMUGGLED}`), 400],
  ["chunks and a length", post([CHUNKED, "Content-Length: 5"], `0\r\n\r\n${SMUGGLED}`), 400],
  ["two lengths", post(["Content-Length: 5", "Content-Length: 0"], SMUGGLED), 400],
  ["a list of lengths", post(["Content-Length: 5, 5"], SMUGGLED), 400],
  ["a negative length", post(["Content-Length: -1"], SMUGGLED), 400],
  ["a length in another notation", post(["Content-Length: 0x10"], SMUGGLED), 400],
  ["a length that is too large to count", post([`Content-Length: ${"9".repeat(30)}`]), 400],
  ["chunks that are not the last coding", post(["Transfer-Encoding: chunked, identity"], SMUGGLED), 400],
  ["a blank before the colon", post(["Content-Length : 0"]), 400],
  ["a folded header", post(["X-A: 1\r\n 2"]), 400],
  ["a carriage return in a header", post(["X-A: 1\r2"]), 400],
  ["a zero byte in a header", post(["X-A: 1\u00002"]), 400],
  ["a line that ends without a carriage return", "POST /webhook HTTP/1.1\nHost: x\n\n", 400],
  ["bytes that are no HTTP", `\u0016\u0003\u0001\u0002${"\u0000".repeat(300)}\r\n\r\n`, 400],
  ["a head that is too large", post([`X-A: ${"a".repeat(20_000)}`]), 431],
  ["a head of many lines that is too large", post(Array(9_000).fill("aa: b")), 431],
];

describe("the webhook", () => {
  const say = (text: string | Uint8Array, half = false) => raw.patiently(raw.say(text, half));
  const answersIn = (text: string) =>
    [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status));

  test.each(refused)("closes the connection behind its refusal of %s", async (_, text, status) => {
    const { text: seen, ended } = await say(Buffer.from(text, "latin1"));
    expect([answersIn(seen), ended]).toEqual([[status], true]);
  });

  test("closes a connection that wants a tunnel, and answers on", async () => {
    expect((await say(bytesOf("CONNECT inside:22 HTTP/1.1", ["Host: inside"]))).ended).toBe(true);
    const upgrade = bytesOf("GET /webhook HTTP/1.1", [
      "Host: x",
      "Connection: Upgrade",
      "Upgrade: websocket",
    ]);
    expect(answersIn((await say(upgrade)).text)).toEqual([405]);
    expect((await say(good)).status).toBe(200);
  });

  test("takes HTTP/1.0 without a host", async () => {
    const text = bytesOf("POST /webhook HTTP/1.0", [OWN, `Content-Length: ${ALERT.length}`], ALERT);
    expect((await say(text)).status).toBe(200);
  });

  test.each([
    ["a wrong secret", "POST /webhook", ["X-Webhook-Secret: nope"], 401],
    ["no secret", "POST /webhook", [], 401],
    ["another path", "POST /", [], 404],
    ["another method", "PUT /webhook", [], 405],
    ["another type", "POST /webhook", [OWN, "Content-Type: text/plain"], 415],
    ["no alert", "POST /webhook", [OWN], 422],
  ])("answers the first of many requests in a row with %s, and closes the connection", async (...row) => {
    const [, start, headers, status] = row;
    const one = request(start, [...headers, "Connection: keep-alive"], "{}");
    const { text, ended } = await say(Buffer.concat(Array(5_000).fill(one)));
    expect([answersIn(text), ended]).toEqual([[status], true]);
  });

  test("answers every one of many good requests in a row", async () => {
    const kept = request("POST /webhook", [OWN, "Connection: keep-alive"], ALERT);
    const { text } = await say(Buffer.concat([...Array(200).fill(kept), good]));
    expect(answersIn(text)).toEqual(Array(201).fill(200));
  });

  test("answers every one of good requests in a row whose sender has said all that it will", async () => {
    const kept = request("POST /webhook", [OWN, "Connection: keep-alive"], ALERT);
    const row = Buffer.concat([kept, kept, kept]);
    const { text, ended } = await say(row, true);
    expect([answersIn(text), ended]).toEqual([[200, 200, 200], true]);
  });

  const EXPECTING = [`Content-Length: ${ALERT.length}`, "Expect: 100-continue"];

  test.each([
    ["no secret", []],
    ["a wrong secret", ["X-Webhook-Secret: nope"]],
  ])("does not ask a sender with %s for its body", async (_what, headers) => {
    const { text, ended } = await say(request("POST /webhook", [...headers, ...EXPECTING]));
    expect([answersIn(text), ended]).toEqual([[401], true]);
  });

  test("asks a sender with the right secret for its body, and answers it", async () => {
    const socket = connect({ port: raw.port, host: "127.0.0.1" });
    socket.write(request("POST /webhook", [OWN, ...EXPECTING]));
    const [interim] = (await once(socket, "data")) as [Buffer];
    expect(interim.toString()).toBe("HTTP/1.1 100 Continue\r\n\r\n");
    socket.write(ALERT);
    const [final] = (await once(socket, "data")) as [Buffer];
    expect(answersIn(final.toString())).toEqual([200]);
    socket.destroy();
  });

  test("asks for no body that it would not take", async () => {
    const headers = [OWN, "Expect: 100-continue", "Content-Length: 9000000"];
    expect(answersIn((await say(request("POST /webhook", headers))).text)).toEqual([413]);
  });

  test("reads a body in a million tiny chunks, with extensions and trailers", async () => {
    const chunks = [...ALERT].map((letter) => `1;a=b\r\n${letter}\r\n`).join("");
    const blanks = "1\r\n \r\n".repeat(100_000);
    const text = request("POST /webhook", [OWN, CHUNKED], `${blanks}${chunks}0\r\nX-Trailer: 1\r\n\r\n`);
    expect((await say(text)).status).toBe(200);
  });
});
