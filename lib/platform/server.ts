import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Server } from "node:net";
import { Connections, IDLE_MS } from "./connections.ts";
import { OpsError } from "./errors.ts";
import { webRequest } from "./node-request.ts";
import { sendResponse } from "./node-response.ts";
import { type Door, openDoor } from "./runtime-server.ts";

/** What answers requests. */
export type Fetch = (request: Request) => Response | Promise<Response>;

/**
 * A server that listens.
 *
 * Shape: `port` is the one that it got; 0 for a socket that has none. `stop` takes no new connections, lets requests
 *        in flight finish within `graceMs`, then closes what is left.
 */
export type Listener = { port: number; stop(graceMs: number): Promise<void> };

/**
 * Serves `fetch` over HTTP/1.1 at an address, or at a listening socket that was handed over as `fd`.
 *
 * Shape:  node:http on both runtimes: it shows the path as it was sent, and it can end a connection whose body nobody
 *         wants. Bun.serve does neither, Deno.serve reads such a body to its end.
 * Errors: LISTEN_FAILED.
 */
export async function listen({ fetch, ...door }: Door & { fetch: Fetch }): Promise<Listener> {
  const connections = new Connections();
  const server = createServer({ keepAliveTimeout: IDLE_MS }, (message, answer) => {
    void serve(fetch, connections, message, answer);
  });
  server.on("connection", (socket) => connections.add(socket));
  const opened = await openDoor(server, door).catch((cause: unknown) => {
    throw listenFailed(door, cause);
  });
  return {
    port: portOf(opened),
    async stop(graceMs) {
      opened.close();
      await connections.end(graceMs);
    },
  };
}

async function serve(
  fetch: Fetch,
  connections: Connections,
  message: IncomingMessage,
  answer: ServerResponse,
): Promise<void> {
  const ended = connections.began(message.socket);
  answer.once("close", ended);
  // A sender that goes away is no failure of ours; without a listener it would end the process.
  message.on("error", () => {});
  answer.on("error", () => {});
  try {
    const request = requestOf(message);
    const response = request === null ? new Response(null, { status: 400 }) : await fetch(request);
    await sendResponse(response, message, answer, connections.isEnding);
  } catch {
    message.socket.destroy();
  }
}

function requestOf(message: IncomingMessage): Request | null {
  try {
    return webRequest(message);
  } catch {
    return null;
  }
}

function portOf(opened: Server): number {
  const address = opened.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

const HINTS: Record<string, string> = {
  EADDRINUSE: "Another process listens there: stop it, or choose another port",
  EACCES: "Ports below 1024 need a privilege: choose another port",
  EADDRNOTAVAIL: "The host must be an address of this machine, or 0.0.0.0",
};

function listenFailed({ host, port, fd }: Door, cause: unknown): OpsError {
  const { code } = cause as { code?: unknown };
  const where = fd === undefined ? `${host}:${port}` : `descriptor ${fd}`;
  return new OpsError({
    code: "LISTEN_FAILED",
    message: `Cannot listen on ${where}: ${typeof code === "string" ? code : "the runtime refused"}`,
    hint: HINTS[String(code)] ?? "Check the address, the port and the unit's socket",
    cause,
  });
}
