/** Bodies in every way in which a sender may bring them, over raw sockets. */
import { afterAll, describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect } from "node:net";
import { listen } from "../../../lib/platform/server/server.ts";
import { until } from "../../support/until.ts";
import { bodyFetch, MAX_BYTES, told } from "../support/body-fetch.ts";
import { holdSocket } from "../support/held-socket.ts";
import { request, speak } from "../support/raw-http.ts";

const HOST = "127.0.0.1";
const listener = await listen({ host: HOST, port: 0, fd: holdSocket().fd, fetch: bodyFetch() });
const { port } = listener;

afterAll(() => listener.stop(0));

const small = Buffer.from('{"alerts":[]} and a little more');
const large = randomBytes(3_000_000);
const CHUNKED = "Transfer-Encoding: chunked";
const KEPT = "Connection: keep-alive";

function pieces(bytes: Uint8Array, size: number): Uint8Array[] {
  const count = Math.ceil(bytes.byteLength / size);
  return Array.from({ length: count }, (_, at) => bytes.subarray(at * size, (at + 1) * size));
}

function chunked(body: Uint8Array, size: number): Buffer {
  const chunks = pieces(body, size).flatMap((piece) => [
    `${piece.byteLength.toString(16)}\r\n`,
    piece,
    "\r\n",
  ]);
  return Buffer.concat([...chunks, "0\r\n\r\n"].map((part) => Buffer.from(part as Uint8Array)));
}

/** Each byte in a write of its own, with the server's turn in between. */
async function* byteByByte(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (const piece of pieces(bytes, 1)) {
    yield piece;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const ways: { way: string; body: Buffer; bring: (path: string) => Parameters<typeof speak>[1] }[] = [
  { way: "in one piece", body: small, bring: (path) => [request(path, [], small)] },
  { way: "byte by byte", body: small, bring: (path) => byteByByte(request(path, [], small)) },
  {
    way: "byte by byte, each a chunk",
    body: small,
    bring: (path) => byteByByte(request(path, [CHUNKED], chunked(small, 1))),
  },
  { way: "large", body: large, bring: (path) => [request(path, [], large)] },
  { way: "large, in odd pieces", body: large, bring: (path) => pieces(request(path, [], large), 65_521) },
  {
    way: "large, in chunks",
    body: large,
    bring: (path) => [request(path, [CHUNKED], chunked(large, 4_093))],
  },
  { way: "empty", body: Buffer.alloc(0), bring: (path) => [request(path, ["Content-Length: 0"])] },
  { way: "without a length", body: Buffer.alloc(0), bring: (path) => [request(path)] },
  {
    way: "empty, in chunks",
    body: Buffer.alloc(0),
    bring: (path) => [request(path, [CHUNKED], "0\r\n\r\n")],
  },
];

type Seen = { held: number; ends: Record<string, string> };

describe("a body", () => {
  const ask = async (path: string) => (await speak(port, [request(`GET ${path}`)])).body;
  const seen = async () => JSON.parse(await ask("/seen")) as Seen;
  const isHeld = () => until("the request is held", async () => (await seen()).held === 1);

  test.each(ways)("a body that comes $way arrives as it was sent", async ({ body, bring }) => {
    expect((await speak(port, bring("POST /read"))).body).toBe(told(body));
  });

  test.each(ways)(
    "a body that comes $way and is read late arrives as it was sent",
    async ({ body, bring }) => {
      const answer = speak(port, bring("POST /held"));
      await isHeld();
      await ask("/go");
      expect((await answer).body).toBe(told(body));
    },
  );

  test("is refused where it grows too large", async () => {
    const body = chunked(Buffer.alloc(MAX_BYTES + 1), 50_000);
    expect((await speak(port, [request("POST /read", [CHUNKED], body)])).body).toBe("payload_too_large");
  });

  test.each(["destroy", "resetAndDestroy"] as const)("is broken when its sender goes: %s", async (leave) => {
    const name = `while-read-${leave}`;
    const socket = connect({ port: port, host: HOST }).on("error", () => {});
    const start = request(`POST /read/${name}`, ["Content-Length: 900"], small);
    await new Promise((resolve) => socket.write(start, resolve));
    expect((await seen()).ends[name]).toBeUndefined();
    socket[leave]();
    await until("the reader is told", async () => (await seen()).ends[name] === "broken");
  });

  test("is broken when its sender has gone before anybody read it", async () => {
    const socket = connect({ port: port, host: HOST });
    socket.write(request("POST /held/before-read", ["Content-Length: 900"], small));
    await isHeld();
    socket.destroy();
    await until("our end is closed", () => socket.closed);
    // The server has noticed the end of that connection before it answers these.
    for (let turn = 0; turn < 5; turn += 1) await seen();
    await ask("/go");
    await until("the reader is told", async () => (await seen()).ends["before-read"] === "broken");
  });

  test("is left alone behind the piece that was wanted, and the next request is answered", async () => {
    const next = request("POST /read", [], small);
    const { text } = await speak(port, [request("POST /first", [KEPT], small), next]);
    expect(text).toContain(`\r\n\r\n${small[0]}HTTP/1.1 200`);
    expect(text).toEndWith(told(small));
  });

  test("a body that nobody wanted does not become the next request", async () => {
    const smuggled = request("POST /read/smuggled", [], "abc");
    const next = request("POST /read", [], small);
    const { text } = await speak(port, [request("POST /unread", [KEPT], smuggled), next]);
    const [first = "", ...others] = text.split("HTTP/1.1 200").slice(1);
    // Where the runtime has not read the body yet, the answer closes the connection, and says so.
    if (/^connection: close$/im.test(first)) expect(others).toEqual([]);
    else expect(others.map((other) => other.split("\r\n\r\n")[1])).toEqual([told(small)]);
    expect((await seen()).ends.smuggled).toBeUndefined();
  });

  test("each of many requests on one connection has its own body", async () => {
    const bodies = Array.from({ length: 8 }, (_, at) => (at % 3 === 2 ? large : small.subarray(at)));
    const requests = bodies.map((body, at) => request("POST /read", at === 7 ? [] : [KEPT], body));
    const { text } = await speak(port, requests);
    expect([...(text.match(/\d+ [0-9a-f]{64}/g) ?? [])]).toEqual(bodies.map((body) => told(body)));
  });
});

test("no more of a body is taken from its sender than is wanted", async () => {
  const wanted = Promise.withResolvers<void>();
  const fetch = async (asked: Request) => {
    await wanted.promise;
    return new Response(String((await asked.bytes()).byteLength));
  };
  const listener = await listen({ host: HOST, port: 0, fetch });
  const piece = Buffer.alloc(1_000_000);
  const pieces = 60;
  const socket = connect({ port: listener.port, host: HOST });
  const answer = once(socket, "data");
  socket.write(request("POST /", [`Content-Length: ${pieces * piece.byteLength}`, KEPT]));
  let sent = 0;
  const sending = (async () => {
    for (; sent < pieces; sent += 1) await new Promise((resolve) => socket.write(piece, resolve));
  })();
  // Others are answered meanwhile, so that what can be taken has been taken.
  for (let still = 0, before = -1; still < 20; still = sent === before ? still + 1 : 0) {
    before = sent;
    await speak(listener.port, ["garbage\r\n\r\n"]);
  }
  expect(sent).toBeLessThan(pieces / 2);
  wanted.resolve();
  await sending;
  expect(String((await answer)[0])).toEndWith(String(pieces * piece.byteLength));
  socket.destroy();
  await listener.stop(0);
});
