/** Peers that misbehave below HTTP: connections refused, reset and dropped; TLS that fails before or after a call. */
import { Buffer } from "node:buffer";
import { createServer as createHttpsServer } from "node:https";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { LOCALHOST_CERTIFICATE, LOCALHOST_KEY } from "./localhost-certificate.ts";

/** A running peer; `requests` counts the requests that reached it whole. */
export type RawPeer = { port: number; requests: number; connections: number; stop(): Promise<void> };

/** A peer that does what it is told with each connection. */
export async function startRawPeer(onConnection: (socket: Socket, peer: RawPeer) => void): Promise<RawPeer> {
  const peer: RawPeer = { port: 0, requests: 0, connections: 0, stop: async () => {} };
  const server = createServer((socket) => {
    peer.connections += 1;
    socket.on("error", () => {});
    onConnection(socket, peer);
  });
  return await listening(server, peer);
}

/** A peer that reads the first bytes of a connection and then closes it. */
export function startDropper(): Promise<RawPeer> {
  return startRawPeer((socket, peer) => {
    socket.once("data", () => {
      peer.requests += 1;
      socket.destroy();
    });
  });
}

/** A peer that reads and never answers. */
export function startSilentPeer(): Promise<RawPeer> {
  return startRawPeer((socket, peer) => {
    socket.once("data", () => {
      peer.requests += 1;
    });
  });
}

/** A port on which nothing listens. */
export async function refusedPort(): Promise<number> {
  const peer = await startRawPeer(() => {});
  await peer.stop();
  return peer.port;
}

/** A peer with TLS; `answer` null keeps every request waiting. */
export async function startTlsPeer(
  answer: string | null,
  maxVersion: "TLSv1.2" | "TLSv1.3" = "TLSv1.3",
): Promise<RawPeer> {
  const peer: RawPeer = { port: 0, requests: 0, connections: 0, stop: async () => {} };
  const options = { key: LOCALHOST_KEY, cert: LOCALHOST_CERTIFICATE, maxVersion };
  const server = createHttpsServer(options, (_request, response) => {
    peer.requests += 1;
    if (answer !== null) response.end(answer);
  });
  server.on("tlsClientError", () => {});
  server.on("connection", () => {
    peer.connections += 1;
  });
  return await listening(server, peer);
}

/**
 * A peer whose TLS breaks after it has read the request: a relay that lets everything through to a TLS peer and, once
 * that has a request, sends the client bytes that are no TLS.
 */
export async function startTlsBreaker(): Promise<RawPeer> {
  const origin = await startTlsPeer(null);
  const relay = await startRawPeer((client) => {
    const upstream = connect(origin.port, "127.0.0.1");
    upstream.on("error", () => {});
    client.pipe(upstream);
    upstream.pipe(client);
    const seenBefore = origin.requests;
    const watch = setInterval(() => {
      if (origin.requests === seenBefore) return;
      clearInterval(watch);
      upstream.unpipe(client);
      client.end(Buffer.from("this is no record of TLS"));
    }, 5);
    client.on("close", () => {
      clearInterval(watch);
      upstream.destroy();
    });
  });
  const stopRelay = relay.stop;
  Object.defineProperty(relay, "requests", { get: () => origin.requests });
  relay.stop = async () => {
    await stopRelay();
    await origin.stop();
  };
  return relay;
}

async function listening(server: Server, peer: RawPeer): Promise<RawPeer> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  peer.port = (server.address() as AddressInfo).port;
  peer.stop = () =>
    new Promise((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
  return peer;
}
