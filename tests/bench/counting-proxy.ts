/** A relay in front of PostgreSQL that counts how often a client waits for the server. */
import { Buffer } from "node:buffer";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A running relay; `roundTrips` counts every Query, Sync and Flush that passed. */
export type CountingProxy = { port: number; roundTrips: number; stop(): Promise<void> };

const QUERY = "Q".charCodeAt(0);
const SYNC = "S".charCodeAt(0);
const FLUSH = "H".charCodeAt(0);

/**
 * Starts a relay to a server on loopback.
 *
 * Source: PostgreSQL documentation, Frontend/Backend Protocol, Message Formats: after the startup message, which has
 *         no type, each message is a type byte and a length that counts itself.
 */
export async function startCountingProxy(serverPort: number): Promise<CountingProxy> {
  const sockets = new Set<Socket>();
  const proxy: CountingProxy = { port: 0, roundTrips: 0, stop: async () => {} };
  const server = createServer({ noDelay: true }, (client) => {
    const upstream = connect({ port: serverPort, host: "127.0.0.1", noDelay: true });
    const count = messageCounter((type) => {
      if (type === QUERY || type === SYNC || type === FLUSH) proxy.roundTrips += 1;
    });
    client.on("data", count);
    client.pipe(upstream);
    upstream.pipe(client);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  proxy.port = (server.address() as AddressInfo).port;
  proxy.stop = () =>
    new Promise((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
  return proxy;
}

/** Reads a stream of messages, however it is cut, and names the type of each. */
function messageCounter(onMessage: (type: number) => void): (chunk: Buffer) => void {
  let pending = Buffer.alloc(0);
  let isStarted = false;
  return (chunk) => {
    pending = Buffer.concat([pending, chunk]);
    for (;;) {
      const head = isStarted ? 1 : 0;
      if (pending.length < head + 4) return;
      const size = head + pending.readUInt32BE(head);
      if (pending.length < size) return;
      if (isStarted) onMessage(pending[0]!);
      isStarted = true;
      pending = pending.subarray(size);
    }
  };
}
