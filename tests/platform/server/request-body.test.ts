/** Bodies in every way in which a sender may bring them, over raw sockets, on Bun here and on Deno beside it. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { Readable } from "node:stream";
import { webRequest } from "../../../lib/platform/server/request.ts";
import { type Listener, listen } from "../../../lib/platform/server/server.ts";
import { denoBinary } from "../../support/deno-binary.ts";
import { until } from "../../support/until.ts";
import { bodyFetch, MAX_BYTES, told } from "../support/body-probe.ts";
import { holdSocket } from "../support/held-socket.ts";
import { request, speak } from "../support/raw-http.ts";

const HOST = "127.0.0.1";
const ports = { Bun: 0, "Bun, at a socket that was handed over": 0, Deno: 0 };
const runtimes = Object.keys(ports) as (keyof typeof ports)[];
let listeners: Listener[];
let deno: ChildProcess;

beforeAll(async () => {
  const own = await listen({ host: HOST, port: 0, fetch: bodyFetch() });
  const handedOver = await listen({ host: HOST, port: 0, fd: holdSocket().fd, fetch: bodyFetch() });
  listeners = [own, handedOver];
  ports.Bun = own.port;
  ports["Bun, at a socket that was handed over"] = handedOver.port;
  deno = spawn(denoBinary(), ["run", "-A", "--no-lock", join(import.meta.dir, "../support/body-probe.ts")], {
    cwd: join(import.meta.dir, "../../.."),
    stdio: ["ignore", "pipe", "inherit"],
  });
  ports.Deno = Number(String((await once(deno.stdout!, "data"))[0]));
});

afterAll(async () => {
  const ended = once(deno, "exit");
  deno.kill("SIGTERM");
  await Promise.all([ended, ...listeners.map((listener) => listener.stop(0))]);
});

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

describe.each(runtimes)("a body on %s", (runtime) => {
  const ask = async (path: string) => (await speak(ports[runtime], [request(`GET ${path}`)])).body;
  const seen = async () => JSON.parse(await ask("/seen")) as Seen;
  const isHeld = () => until("the request is held", async () => (await seen()).held === 1);

  test.each(ways)("that comes $way arrives as it was sent", async ({ body, bring }) => {
    expect((await speak(ports[runtime], bring("POST /read"))).body).toBe(told(body));
  });

  test.each(ways)("that comes $way and is read late arrives as it was sent", async ({ body, bring }) => {
    const answer = speak(ports[runtime], bring("POST /held"));
    await isHeld();
    await ask("/go");
    expect((await answer).body).toBe(told(body));
  });

  test("is refused where it grows too large", async () => {
    const body = chunked(Buffer.alloc(MAX_BYTES + 1), 50_000);
    expect((await speak(ports[runtime], [request("POST /read", [CHUNKED], body)])).body).toBe(
      "payload_too_large",
    );
  });

  test.each(["destroy", "resetAndDestroy"] as const)("is broken when its sender goes: %s", async (leave) => {
    const name = `while-read-${leave}`;
    const socket = connect({ port: ports[runtime], host: HOST }).on("error", () => {});
    const start = request(`POST /read/${name}`, ["Content-Length: 900"], small);
    await new Promise((resolve) => socket.write(start, resolve));
    expect((await seen()).ends[name]).toBeUndefined();
    socket[leave]();
    await until("the reader is told", async () => (await seen()).ends[name] === "broken");
  });

  test("is broken when its sender has gone before anybody read it", async () => {
    const socket = connect({ port: ports[runtime], host: HOST });
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
    const { text } = await speak(ports[runtime], [request("POST /first", [KEPT], small), next]);
    expect(text).toContain(`\r\n\r\n${small[0]}HTTP/1.1 200`);
    expect(text).toEndWith(told(small));
  });

  test("that nobody wanted does not become the next request", async () => {
    const smuggled = request("POST /read/smuggled", [], "abc");
    const next = request("POST /read", [], small);
    const { text } = await speak(ports[runtime], [request("POST /unread", [KEPT], smuggled), next]);
    const [first = "", ...others] = text.split("HTTP/1.1 200").slice(1);
    // Where the runtime has not read the body yet, the answer closes the connection, and says so.
    if (/^connection: close$/im.test(first)) expect(others).toEqual([]);
    else expect(others.map((other) => other.split("\r\n\r\n")[1])).toEqual([told(small)]);
    expect((await seen()).ends.smuggled).toBeUndefined();
  });

  test("of each of many requests on one connection is its own", async () => {
    const bodies = Array.from({ length: 8 }, (_, at) => (at % 3 === 2 ? large : small.subarray(at)));
    const requests = bodies.map((body, at) => request("POST /read", at === 7 ? [] : [KEPT], body));
    const { text } = await speak(ports[runtime], requests);
    expect([...(text.match(/\d+ [0-9a-f]{64}/g) ?? [])]).toEqual(bodies.map((body) => told(body)));
  });
});

describe("webRequest()", () => {
  /** A body of so many pieces, all there at once, and how many of them have been taken. */
  function bodyOf(pieces: number, bytesEach: number) {
    const counted = { taken: 0 };
    const source = Readable.from(
      (function* () {
        for (; counted.taken < pieces; counted.taken += 1) yield Buffer.alloc(bytesEach);
      })(),
      { highWaterMark: 1 },
    );
    const message = Object.assign(source, { method: "POST", url: "/", rawHeaders: [] });
    const { body } = webRequest(message as unknown as IncomingMessage);
    return { body: body!, source, counted };
  }

  test("takes no more of a body than is read", async () => {
    const { body, source, counted } = bodyOf(1_000, 65_536);
    const settle = async () => {
      for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    };
    await settle();
    expect(counted.taken).toBe(0);
    const reader = body.getReader();
    await reader.read();
    await settle();
    expect(counted.taken).toBeLessThan(5);
    await reader.cancel();
    await settle();
    expect(counted.taken).toBeLessThan(5);
    expect(source.listenerCount("data")).toBe(0);
  });

  test("hands tiny pieces that are there at once on as large ones", async () => {
    const sizes: number[] = [];
    for await (const piece of bodyOf(100_000, 1).body as unknown as AsyncIterable<Uint8Array>)
      sizes.push(piece.byteLength);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(100_000);
    expect(sizes.length).toBeLessThan(100);
  });
});
