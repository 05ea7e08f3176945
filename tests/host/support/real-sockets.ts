/** Real TCP sockets in states of our choice, and what `ss` itself says about them. */
import { spawnSync } from "node:child_process";
import { connect, createServer, type Server, type Socket } from "node:net";
import { until } from "../../support/until.ts";

/** What `ss -Hant` lists: all rows, and those of each state. */
export type SsListing = { total: number; byState: Record<string, number> };

/** Lists all sockets by `ss`, which must be there: what it counts is what is tested. */
export function listBySs(): SsListing {
  const { stdout, status, error } = spawnSync("ss", ["-Hant"], {
    encoding: "utf8",
    maxBuffer: 256 * 1_048_576,
  });
  if (error || status !== 0)
    throw new Error("`ss` is needed for this test and does not run: install the package iproute2");
  const states = stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => line.split(" ")[0]!);
  const byState: Record<string, number> = {};
  for (const state of states) byState[state] = (byState[state] ?? 0) + 1;
  return { total: states.length, byState };
}

/** Pairs of sockets, held until they are disposed of. */
export type HeldSockets = { port: number; [Symbol.asyncDispose](): Promise<void> };

/**
 * Opens connections to `host` and leaves them as they are, or half closed by the client: then the accepting side stays
 * in CLOSE-WAIT and the other in FIN-WAIT-2.
 */
export async function holdSockets(
  host: string,
  count: number,
  state: "open" | "close-wait",
): Promise<HeldSockets> {
  const accepted: Socket[] = [];
  const isHalfClosed = state === "close-wait";
  const server: Server = createServer({ allowHalfOpen: true, pauseOnConnect: !isHalfClosed }, (socket) => {
    socket.on("error", () => {});
    accepted.push(socket);
    // The client's end must be read, or the runtime does not notice it; our own side stays open.
    if (isHalfClosed) socket.resume();
  });
  await new Promise<void>((resolve) => server.listen({ port: 0, host, backlog: 4_096 }, resolve));
  const { port } = server.address() as { port: number };
  const target = host === "::" ? "127.0.0.1" : host;
  const clients = await Promise.all(Array.from({ length: count }, () => openClient(target, port)));
  if (isHalfClosed) for (const client of clients) client.end();
  await until(`${count} connections`, () => accepted.length >= count);
  return {
    port,
    async [Symbol.asyncDispose]() {
      for (const socket of [...clients, ...accepted]) socket.resetAndDestroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** Opens connections and ends them as usual: one side of each stays in TIME-WAIT for a minute. */
export async function endSockets(count: number): Promise<void> {
  const server = createServer((socket) => socket.on("error", () => {}).resume());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  const clients = await Promise.all(Array.from({ length: count }, () => openClient("127.0.0.1", port)));
  const closed = clients.map((client) => new Promise((resolve) => client.once("close", resolve)));
  for (const client of clients) client.resume().end();
  await Promise.all(closed);
  await new Promise<void>((resolve) => server.close(() => resolve()));
}

function openClient(host: string, port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, allowHalfOpen: true }, () => resolve(socket));
    socket.on("error", reject);
  });
}
