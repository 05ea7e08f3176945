import type { Server as HttpServer } from "node:http";
import { createServer, type Server } from "node:net";
import { runtimeName } from "./runtime.ts";

/** Where connections come in: an address of its own, or a listening socket that somebody handed over. */
export type Door = { host: string; port: number; fd?: number | undefined };

/**
 * Lets `server` serve the connections that come in at `door`, and answers the server that is to be closed for it.
 *
 * Shape:  closing a door that was handed over leaves the socket itself listening: whoever holds it keeps what arrives.
 * Errors: those of listening, as the runtime words them.
 * Source: tried on Bun 1.4.5, whose node:http takes a port of its own instead of the descriptor while its node:net
 *         takes it, and on Deno 2.9.6, whose node:http takes it while a connection handed to it is closed after
 *         its first answer.
 */
export async function openDoor(server: HttpServer, { host, port, fd }: Door): Promise<Server> {
  if (fd === undefined) return await opened(server, { host, port });
  if (runtimeName() !== "bun") return await opened(server, { fd });
  const front = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    server.emit("connection", socket);
  });
  return await opened(front, { fd });
}

function opened(door: Server, at: { host: string; port: number } | { fd: number }): Promise<Server> {
  return new Promise((resolve, reject) => {
    door.once("error", reject);
    door.listen(at, () => {
      door.off("error", reject);
      resolve(door);
    });
  });
}
