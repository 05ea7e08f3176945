import { afterEach, describe, expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { Connections } from "../../lib/platform/connections.ts";
import { listen } from "../../lib/platform/server.ts";
import { until } from "../chaos/until.ts";
import { denoBinary } from "../deno-binary.ts";
import { request, speak } from "./raw-http.ts";

const HOST = "127.0.0.1";
/** Longer than any test may take: what waits for it does not end. */
const NEVER_MS = 600_000;

const servers: Server[] = [];
const clients: Socket[] = [];
afterEach(() => {
  for (const client of clients.splice(0)) client.destroy();
  for (const server of servers.splice(0)) server.close();
});

/** Connections of a real server; `open` answers our end and the server's, when the server has it. */
async function start(connections: Connections) {
  const server = createServer((socket) => connections.add(socket.resume()));
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

describe("Connections", () => {
  test("closes what rests too long, also behind half a head, and lets work go on", async () => {
    const connections = new Connections(100);
    const open = await start(connections);
    const [silent, half, working] = [await open(), await open(), await open()];
    const ended = connections.began(working.theirs);
    half.ours.write("POST /webhook HTTP/1.1\r\nHo");
    await Promise.all([closed(silent.ours), closed(half.ours)]);
    expect(working.theirs.destroyed).toBe(false);
    ended();
    await closed(working.ours);
    await connections.end(NEVER_MS);
  });

  test("counts two requests on a connection as work until both are answered", async () => {
    const connections = new Connections(50);
    const open = await start(connections);
    const working = await open();
    const ends = [connections.began(working.theirs), connections.began(working.theirs)];
    ends[0]!();
    await closed((await open()).ours);
    expect(working.theirs.destroyed).toBe(false);
    ends[1]!();
    await closed(working.ours);
    await connections.end(NEVER_MS);
  });

  test("ends at once when there is none", async () => {
    await new Connections().end(NEVER_MS);
  });

  test("ends when those that rest have had their last chance and those at work have finished", async () => {
    const connections = new Connections();
    const open = await start(connections);
    const [silent, working] = [await open(), await open()];
    const ended = connections.began(working.theirs);
    let hasEnded = false;
    const end = connections.end(NEVER_MS).then(() => {
      hasEnded = true;
    });
    expect(silent.theirs.destroyed).toBe(false);
    await closed(silent.ours);
    expect([working.theirs.destroyed, hasEnded]).toEqual([false, false]);
    ended();
    await end;
    await closed(working.ours);
  });

  test("ends when the grace is over, whatever is still at work", async () => {
    const connections = new Connections();
    const open = await start(connections);
    const working = await open();
    const ended = connections.began(working.theirs);
    await connections.end(20);
    expect(working.theirs.destroyed).toBe(true);
    ended();
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
      [...words, join(import.meta.dir, "listen-failed-probe.ts"), `${taken.port}`],
      {
        cwd: join(import.meta.dir, "../.."),
        stdio: ["ignore", "pipe", "inherit"],
      },
    );
    const said = once(child.stdout, "data");
    expect(await once(child, "exit")).toEqual([0, null]);
    expect(String((await said)[0])).toBe("LISTEN_FAILED\n");
    await taken.stop(0);
  });
});
