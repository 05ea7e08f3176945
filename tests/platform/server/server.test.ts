import { afterEach, describe, expect, test } from "bun:test";
import { once } from "node:events";
import { connect } from "node:net";
import { type Fetch, type Listener, listen, type ServerLimits } from "../../../lib/platform/server/server.ts";
import { until } from "../../support/until.ts";
import { holdSocket } from "../support/held-socket.ts";
import { request, speak } from "../support/raw-http.ts";

const HOST = "127.0.0.1";
const handedOver = () => ({ host: HOST, port: 0, fd: holdSocket().fd });
const listeners: Listener[] = [];

afterEach(async () => {
  await Promise.all(listeners.splice(0).map((listener) => listener.stop(0)));
});

async function start(
  fetch: Fetch,
  address: { host: string; port: number; fd?: number } = { host: HOST, port: 0 },
  limits: Partial<ServerLimits> = {},
) {
  const listener = await listen({ ...address, fetch, limits });
  listeners.push(listener);
  return listener;
}

/** An answer that comes when it is told to, and the moment at which it was asked for. */
function held() {
  const asked = Promise.withResolvers<void>();
  const told = Promise.withResolvers<void>();
  const fetch: Fetch = async () => {
    asked.resolve();
    await told.promise;
    return new Response("done");
  };
  return { fetch, asked: asked.promise, tell: told.resolve };
}

const echo: Fetch = async (asked) => new Response(await asked.text());
const get = request("GET /");
const kept = request("POST /", ["Connection: keep-alive"], "abc");

describe("listen() at a socket that was handed over", () => {
  test("serves many requests on one connection", async () => {
    const { port } = await start(echo, handedOver());
    const answers = (text: string) => text.split("\r\n\r\nabc").length - 1;
    const pieces = async function* () {
      for (let sent = 0; sent < 3; sent += 1) {
        yield kept;
        yield kept;
      }
    };
    const { text, ended } = await speak(port, pieces(), (seen) => answers(seen) === 6);
    expect([answers(text), ended]).toEqual([6, false]);
  });

  test("answers a client that has said all that it will", async () => {
    const { port } = await start(echo, handedOver());
    const socket = connect({ port, host: HOST, allowHalfOpen: true });
    const text = new Promise<string>((resolve) => {
      let seen = "";
      socket.on("data", (chunk: Uint8Array) => {
        seen += chunk;
      });
      socket.on("end", () => resolve(seen));
    });
    socket.end(request("POST /", [], "abc"));
    expect(await text).toEndWith("abc");
  });

  test("stops: what is in flight finishes, nothing new is taken", async () => {
    const { fetch, asked, tell } = held();
    const listener = await start(fetch, handedOver());
    const answer = speak(listener.port, [kept]);
    await asked;
    const stopped = listener.stop(10_000);
    setTimeout(tell, 20);
    const { body, head, ended } = await answer;
    expect([body, ended]).toEqual(["done", true]);
    expect(head).toMatch(/^connection: close$/im);
    await stopped;
    await expect(speak(listener.port, [get])).resolves.toMatchObject({ status: 0 });
  });

  test("stops: a connection that rests is closed, long before the grace is over", async () => {
    const listener = await start(echo, handedOver());
    const resting = connect({ port: listener.port, host: HOST });
    resting.write(kept);
    await once(resting, "data");
    const closed = once(resting, "end");
    await listener.stop(600_000);
    await closed;
  });

  test("stops when its grace is over, whatever is still in flight", async () => {
    const { fetch, asked } = held();
    const listener = await start(fetch, handedOver());
    const answer = speak(listener.port, [get]);
    await asked;
    await listener.stop(20);
    expect((await answer).status).toBe(0);
  });

  test("outlives clients that reset their connection at any time", async () => {
    const { port } = await start(
      async (asked) => new Response((await asked.text()) + "x".repeat(5_000_000)),
      handedOver(),
    );
    for (const bytes of [Buffer.alloc(0), kept.subarray(0, 20), kept.subarray(0, -1), kept])
      await new Promise<void>((resolve) => {
        const socket = connect({ port, host: HOST }, () => {
          socket.write(bytes);
          setImmediate(() => socket.resetAndDestroy());
        });
        socket.once("close", () => resolve());
      });
    expect((await speak(port, [request("POST /", [], "abc")])).body).toHaveLength(5_000_003);
  });

  test("says where a request came from", async () => {
    const { port } = await start((_request, { address: from }) => new Response(String(from)), handedOver());
    expect((await speak(port, [get])).body).toBe(HOST);
  });

  test("closes the connection when the answer fails, and serves on", async () => {
    let failures = 1;
    const { port } = await start(async () => {
      if (failures-- > 0) throw new Error("canary");
      return new Response("fine");
    }, handedOver());
    expect((await speak(port, [get])).text).toBe("");
    expect((await speak(port, [get])).body).toBe("fine");
  });

  test("begins one request of a connection at a time, and leaves the others with their sender", async () => {
    const { fetch, asked, tell } = held();
    let begun = 0;
    const counted: Fetch = async (request) => {
      begun += 1;
      return await fetch(request, { address: null });
    };
    const { port } = await start(counted, handedOver());
    const one = request("GET /", ["Connection: keep-alive"]);
    const piece = Buffer.concat(Array(1_000).fill(one));
    const socket = connect({ port, host: HOST });
    let text = "";
    socket.on("data", (chunk: Buffer) => {
      text += chunk;
    });
    const answers = () => text.split("HTTP/1.1 200").length - 1;
    for (let sent = 0; sent < 20; sent += 1) socket.write(piece);
    await asked;
    // Others are served meanwhile, so that whatever was read has also been parsed.
    for (let turn = 0; turn < 5; turn += 1) await speak(port, ["garbage\r\n\r\n"]);
    expect([begun, answers()]).toEqual([1, 0]);
    tell();
    await until("all are answered", () => answers() === 20_000);
    expect(begun).toBe(20_000);
    socket.destroy();
  });

  test("limits the time of every head on a connection, not the rest between them", async () => {
    const { port } = await start(echo, handedOver(), { statesMs: { head: 100 } });
    const half = kept.subarray(0, 10);
    expect(await speak(port, [half])).toMatchObject({ text: "", ended: true });
    const resting = connect({ port, host: HOST });
    resting.write(kept);
    await once(resting, "data");
    expect(await speak(port, [half])).toMatchObject({ text: "", ended: true });
    expect([resting.closed, resting.readableEnded]).toEqual([false, false]);
    resting.destroy();
  });

  test("limits the time of a head that begins after a rest, too", async () => {
    const { port } = await start(echo, handedOver(), { statesMs: { head: 100 } });
    const resting = connect({ port, host: HOST });
    resting.write(kept);
    await once(resting, "data");
    resting.write(kept.subarray(0, 10));
    await once(resting, "end");
    expect(resting.readableEnded).toBe(true);
  });

  test("does not let a head trickle in", async () => {
    const { port } = await start(echo, handedOver(), { statesMs: { head: 200 } });
    const trickle = async function* () {
      yield "POST / HTTP/1.1\r\n";
      for (;;) {
        yield "x";
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    };
    expect((await speak(port, trickle())).status).toBe(0);
  });

  test("closes a silent connection for a new one before one that was served and rests", async () => {
    const { port } = await start(echo, handedOver(), { connections: 2 });
    const [resting, silent] = [connect({ port, host: HOST }), connect({ port, host: HOST })];
    resting.write(kept);
    await once(resting, "data");
    const closed = once(silent.resume(), "close");
    expect((await speak(port, [request("POST /", [], "abc")])).body).toBe("abc");
    await closed;
    resting.write(kept);
    await once(resting, "data");
    resting.destroy();
  });

  test("closes a new connection at once when all others are at work", async () => {
    const { fetch, asked, tell } = held();
    const { port } = await start(fetch, handedOver(), { connections: 1 });
    const working = speak(port, [get]);
    await asked;
    expect((await speak(port, [get])).text).toBe("");
    tell();
    expect((await working).body).toBe("done");
    expect((await speak(port, [get])).body).toBe("done");
  });
});

describe("listen() at an address", () => {
  test("gives a connection that is open already a moment to bring its request when it stops", async () => {
    const listener = await start(echo);
    const answered = Promise.withResolvers<void>();
    const pieces = async function* () {
      yield kept;
      await answered.promise;
      yield kept.subarray(0, 10);
      void listener.stop(10_000);
      yield kept.subarray(10);
    };
    const { text, ended } = await speak(listener.port, pieces(), (seen) => {
      if (seen.endsWith("abc")) answered.resolve();
      return false;
    });
    expect([text.split("\r\n\r\nabc").length - 1, ended]).toEqual([2, true]);
  });

  test("hands on what was sent twice as one joined value, and the path as it came", async () => {
    const { port } = await start(({ url, headers, method }) =>
      Response.json([method, url, headers.get("x-a")]),
    );
    const ask = async (start: string) =>
      JSON.parse((await speak(port, [request(start, ["X-A: 1", "x-a: 2"])])).body);
    expect(await ask("GET /a?b=c")).toEqual(["GET", "http://localhost/a?b=c", "1, 2"]);
    expect(await ask("GET http://other/a")).toEqual(["GET", "http://localhost/a", "1, 2"]);
    expect(await ask("GET /a/../b")).toEqual(["GET", "http://localhost/%2Fa%2F..%2Fb", "1, 2"]);
    expect(await ask("GET /a#b")).toEqual(
      ["GET", "http://localhost/%2Fa%23b", "1, 2"].map(() => expect.anything()),
    );
    expect(await ask("TRACE /a")).toEqual(["OPTIONS", "http://localhost/a", "1, 2"]);
  });

  test("ends, and serves until then, whatever way a thousand connections went", async () => {
    const listener = await start(async (asked) =>
      asked.url.endsWith("/unread") ? new Response() : new Response(await asked.text()),
    );
    const beginnings = [
      "",
      "POST / HTTP/1.1\r\nHo",
      request("POST /", ["Content-Length: 900"], "abc"),
      request("POST /unread", ["Content-Length: 70000"], "abc"),
      kept,
    ];
    const leave = async (at: number): Promise<void> => {
      const socket = connect({ port: listener.port, host: HOST }).on("error", () => {});
      await once(socket, "connect");
      await new Promise((resolve) => socket.write(beginnings[at % beginnings.length]!, resolve));
      await new Promise((resolve) => setImmediate(resolve));
      if (at % 2 === 0) socket.destroy();
      else socket.resetAndDestroy();
      await until("our end is closed", () => socket.closed);
    };
    for (let at = 0; at < 1_000; at += 50)
      await Promise.all(Array.from({ length: 50 }, (_, more) => leave(at + more)));
    expect((await speak(listener.port, [request("POST /", [], "abc")])).body).toBe("abc");
    // With a grace that no test outlives: nothing that has gone may be waited for.
    await listener.stop(600_000);
  });

  test("says what stands in the way of listening", async () => {
    const { port } = await start(echo);
    await expect(listen({ host: HOST, port, fetch: echo })).rejects.toMatchObject({
      code: "LISTEN_FAILED",
      message: `Cannot listen on ${HOST}:${port}: EADDRINUSE`,
      hint: expect.stringContaining("Another process"),
    });
    await expect(listen({ host: "203.0.113.7", port: 0, fetch: echo })).rejects.toMatchObject({
      code: "LISTEN_FAILED",
      hint: expect.any(String),
    });
  });
});
