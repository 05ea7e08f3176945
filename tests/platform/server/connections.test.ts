import { afterEach, describe, expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { Connections, IDLE_MS } from "../../../lib/platform/server/connections.ts";
import { listen } from "../../../lib/platform/server/server.ts";
import { denoBinary } from "../../support/deno-binary.ts";
import { until } from "../../support/until.ts";
import { request, speak } from "../support/raw-http.ts";

const HOST = "127.0.0.1";
/** Longer than any test may take: what waits for it does not end. */
const NEVER_MS = 600_000;

const servers: Server[] = [];
const clients: Socket[] = [];
afterEach(() => {
  for (const client of clients.splice(0)) client.destroy();
  for (const server of servers.splice(0)) server.close();
});

/** Connections of a real server; `open` returns our end and the server's, once the server has accepted it. */
async function start(connections: Connections) {
  const server = createServer((socket) => {
    if (!connections.add(socket.resume())) socket.destroy();
  });
  servers.push(server);
  await once(server.listen(0, HOST), "listening");
  const { port } = server.address() as { port: number };
  return async (): Promise<{ ours: Socket; theirs: Socket }> => {
    const accepted = once(server, "connection");
    const ours = connect({ port, host: HOST }).resume();
    clients.push(ours.on("error", () => {}));
    const [theirs] = (await accepted) as [Socket];
    return { ours, theirs };
  };
}

const closed = (socket: Socket) => until("the connection is closed", () => socket.closed);

const MANY = 1_000;

describe("Connections", () => {
  test("closes what brings no head, what rests and what lingers, each in its time, and lets work go on", async () => {
    const limitsMs = { new: 60, idle: 60, next: 60, closing: 60 };
    const connections = new Connections({ most: MANY, limitsMs });
    const open = await start(connections);
    const working = await open();
    connections.enter(working.theirs, "working");
    const pairs: { ours: Socket }[] = [];
    for (const phase of ["new", "idle", "next", "closing"] as const) {
      const pair = await open();
      connections.enter(pair.theirs, phase);
      pairs.push(pair);
    }
    await Promise.all(pairs.map(({ ours }) => closed(ours)));
    expect(working.theirs.destroyed).toBe(false);
    connections.enter(working.theirs, "idle");
    await closed(working.ours);
    await connections.end(NEVER_MS);
  });

  test("counts the time of a phase anew with each entry", async () => {
    const connections = new Connections({ most: MANY, limitsMs: { new: 80, idle: 80, closing: 80 } });
    const open = await start(connections);
    const [silent, served] = [await open(), await open()];
    connections.enter(served.theirs, "working");
    await closed(silent.ours);
    connections.enter(served.theirs, "idle");
    await closed((await open()).ours);
    await closed(served.ours);
    await connections.end(NEVER_MS);
  });

  test("gives a new one the place of the oldest that lingers, then of the oldest that is silent", async () => {
    const connections = new Connections({ most: 4 });
    const open = await start(connections);
    const [older, working, younger, lingering] = [await open(), await open(), await open(), await open()];
    connections.enter(working.theirs, "working");
    connections.enter(lingering.theirs, "closing");
    await open();
    await closed(lingering.ours);
    expect([older, working, younger].map(({ theirs }) => theirs.destroyed)).toEqual([false, false, false]);
    await open();
    await closed(older.ours);
    expect([working, younger].map(({ theirs }) => theirs.destroyed)).toEqual([false, false]);
    await connections.end(0);
  });

  test("gives a new one the place of the one that rests for longest when none is silent", async () => {
    const connections = new Connections({ most: 3 });
    const open = await start(connections);
    const [working, younger, older] = [await open(), await open(), await open()];
    connections.enter(working.theirs, "working");
    connections.enter(older.theirs, "idle");
    connections.enter(younger.theirs, "idle");
    await open();
    await closed(older.ours);
    expect([working, younger].map(({ theirs }) => theirs.destroyed)).toEqual([false, false]);
    await connections.end(0);
  });

  test("refuses a new one when all are at work, and takes one again when one has gone", async () => {
    const connections = new Connections({ most: 3 });
    const open = await start(connections);
    const served = [await open(), await open(), await open()];
    for (const [at, phase] of (["working", "sending", "next"] as const).entries())
      connections.enter(served[at]!.theirs, phase);
    await closed((await open()).ours);
    expect(served.map(({ theirs }) => theirs.destroyed)).toEqual([false, false, false]);
    served[1]!.ours.destroy();
    await closed(served[1]!.theirs);
    const { theirs } = await open();
    expect(theirs.destroyed).toBe(false);
    await connections.end(0);
  });

  test("tells once of many that were closed for others", async () => {
    const told: number[] = [];
    const connections = new Connections({
      most: 1,
      limitsMs: { closing: 20 },
      onCrowded: (count) => told.push(count),
    });
    const open = await start(connections);
    await open();
    const others = [await open(), await open(), await open()];
    await until("it was told", () => told.length > 0);
    await closed(others[1]!.ours);
    await closed((await open()).ours.destroy());
    await connections.end(0);
    expect(told).toEqual([3]);
  });

  test("ends at once when there is none", async () => {
    await new Connections({ most: MANY }).end(NEVER_MS);
  });

  test("rest for longer than proxies keep theirs, which therefore close them first", () => {
    // nginx 1.22, Traefik 3, Caddy 2 and Google's load balancers, by their documents and sources, read 2026-11-23.
    const proxiesMs = [60_000, 90_000, 120_000, 600_000];
    expect(IDLE_MS).toBeGreaterThan(Math.max(...proxiesMs));
  });

  test("ends when those that rest have had a second and those at work have finished", async () => {
    const connections = new Connections({ most: MANY });
    const open = await start(connections);
    const [resting, working] = [await open(), await open()];
    connections.enter(resting.theirs, "idle");
    connections.enter(working.theirs, "working");
    let hasEnded = false;
    const beganMs = performance.now();
    const end = connections.end(NEVER_MS).then(() => {
      hasEnded = true;
    });
    await closed(resting.ours);
    // Not before: one that is in use brings a request within this time.
    expect(performance.now() - beganMs).toBeGreaterThanOrEqual(1_000);
    expect([working.theirs.destroyed, hasEnded]).toEqual([false, false]);
    connections.enter(working.theirs, "idle");
    await end;
    await closed(working.ours);
  });

  test("end with what is left when their grace is over", async () => {
    const connections = new Connections({ most: MANY });
    const open = await start(connections);
    const working = await open();
    connections.enter(working.theirs, "working");
    await connections.end(20);
    expect(working.theirs.destroyed).toBe(true);
    connections.enter(working.theirs, "idle");
  });

  test("remembers none of a thousand that went in every way", async () => {
    const listener = await listen({
      host: HOST,
      port: 0,
      fetch: async (asked) => new Response(asked.url.endsWith("/unread") ? "" : await asked.text()),
    });
    const beginnings = [
      "",
      "POST / HTTP/1.1\r\nHo",
      request("POST /", ["Content-Length: 900"], "abc"),
      request("POST /unread", ["Content-Length: 70000"], "abc"),
      request("POST /", ["Connection: keep-alive"], "abc"),
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
    await listener.stop(NEVER_MS);
  });

  test.each([
    ["Bun", () => [process.execPath, "run"]],
    ["Deno", () => [denoBinary(), "run", "-A", "--no-lock"]],
  ])("do not keep a process on %s whose listening failed", async (_runtime, commandOf) => {
    const taken = await listen({ host: HOST, port: 0, fetch: () => new Response() });
    const [program = "", ...words] = commandOf();
    const child = spawn(
      program,
      [...words, join(import.meta.dir, "../support/listen-failed-probe.ts"), `${taken.port}`],
      {
        cwd: join(import.meta.dir, "../../.."),
        stdio: ["ignore", "pipe", "inherit"],
      },
    );
    const said = once(child.stdout, "data");
    expect(await once(child, "exit")).toEqual([0, null]);
    expect(String((await said)[0])).toBe("LISTEN_FAILED\n");
    await taken.stop(0);
  });
});
