import { Buffer } from "node:buffer";
import {
  createServer as createParser,
  type IncomingMessage,
  type ServerResponse,
  STATUS_CODES,
} from "node:http";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { OpsError } from "../errors.ts";
import { Connection, type Origin, type StateLimits } from "./connection.ts";
import { webRequest } from "./request.ts";

/** Where connections come in: an address, or as `fd` a listening socket that was handed over. */
export type ListenAddress = { host: string; port: number; fd?: number | undefined };

/** Makes the response to a request. */
export type Fetch = (request: Request, origin: Origin) => Response | Promise<Response>;

/** A server that listens; `stop` lets requests in flight finish within `graceMs`, then closes the rest. */
export type Listener = { port: number; stop(graceMs: number): Promise<void> };

/**
 * What a server may hold, and what it calls when that is not enough.
 *
 * Shape: `connections` open at once; `statesMs` replace the usual time limits; `onCrowded` is called when a connection
 *        is closed because there are too many; `onMalformed` for each request that is no proper HTTP, which `fetch`
 *        never sees.
 */
export type ServerLimits = {
  connections: number;
  statesMs: Partial<StateLimits>;
  onCrowded: () => void;
  onMalformed: (status: number, origin: Origin) => void;
};

/**
 * An idle connection rests for longer than proxies keep theirs, so that they close first: a request that meets a
 * connection which is being closed is lost, and no proxy sends a POST twice. Most keep theirs for 60 or 90 seconds,
 * Caddy for 120, Google's load balancers for 600.
 */
const STATES_MS = { head: 10_000, idle: 660_000, closing: 1_000 };
/** How long an open connection may take to bring a request while the server ends. */
const LAST_REQUEST_MS = 1_000;
const MAX_HEAD_BYTES = 16_384;

/**
 * Serves `fetch` over HTTP/1.1 at an address, or at a listening socket that was handed over as `fd`.
 *
 * Behaviour: node:net listens and node:http parses, on both runtimes: a listening node:http, Bun.serve and Deno.serve
 *            read on without limit, and Bun's take no descriptor. A connection ends with its first answer that is not a
 *            2xx. When all connections are taken, a new one takes the place of the oldest one that has brought no
 *            request, else of the oldest one that rests; where all are at work, the new one is closed. Stopping does
 *            not close a socket that was handed over: its holder keeps what arrives.
 * Errors:    LISTEN_FAILED.
 */
export async function listen({
  fetch,
  limits: { connections: most = 2_000, statesMs, onCrowded = () => {}, onMalformed = () => {} } = {},
  ...address
}: ListenAddress & { fetch: Fetch; limits?: Partial<ServerLimits> }): Promise<Listener> {
  const connections = new Set<Connection>();
  let isEnding = false;
  const parser = createParser({
    keepAliveTimeout: STATES_MS.idle,
    maxHeaderSize: MAX_HEAD_BYTES,
    requireHostHeader: false,
  });
  const refuse = (connection: Connection, status: number) => {
    const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Length: 0`;
    connection.end(`${head}\r\n\r\n`);
    onMalformed(status, connection.origin);
  };
  const onRequest = (message: IncomingMessage, answer: ServerResponse) => {
    const connection = message.socket as unknown as Connection;
    // A sender that leaves is no failure of ours; without these listeners it would end the process.
    message.on("error", () => {});
    answer.on("error", () => {});
    const onBodyWanted = (isFirst: boolean) => {
      if (isFirst && message.headers.expect !== undefined) answer.writeContinue();
      connection.wantBody();
    };
    connection.begin(message, async () => {
      const request = webRequest(message, onBodyWanted);
      if (typeof request === "number") return refuse(connection, request);
      try {
        const response = await fetch(request, connection.origin);
        await send(response, { message, answer, connection, isEnding });
      } catch {
        connection.destroy();
      }
    });
  };
  parser.on("request", onRequest).on("checkContinue", onRequest);
  parser.on("checkExpectation", (message) => {
    const connection = message.socket as unknown as Connection;
    connection.begin(message, () => refuse(connection, 417));
  });
  parser.on("clientError", ({ code = "" }: NodeJS.ErrnoException, socket) => {
    const connection = socket as unknown as Connection;
    const status = code === "HPE_HEADER_OVERFLOW" ? 431 : 400;
    if (!socket.writable || !code.startsWith("HPE_")) socket.destroy();
    else connection.breakOff(() => refuse(connection, status));
  });
  const server = await openSocket(address, (socket) => {
    if (connections.size >= most) {
      onCrowded();
      const oldest = (...states: string[]) =>
        connections.values().find(({ state }) => states.includes(state));
      const spare = oldest("head", "closing") ?? oldest("idle");
      if (spare === undefined) return void socket.destroy();
      spare.destroy();
      connections.delete(spare);
    }
    // The parser gets it with its first bytes: until then it costs little more than its socket.
    const onBegin = () => parser.emit("connection", connection);
    const connection = new Connection(socket, { ...STATES_MS, ...statesMs }, onBegin);
    connections.add(connection);
    connection.once("close", () => connections.delete(connection));
  });
  // Deno closes every connection after its answer when the parsing server is not listening.
  Object.defineProperty(parser, "listening", { get: () => server.listening });
  return {
    port: (server.address() as AddressInfo).port,
    async stop(graceMs) {
      isEnding = true;
      const closed = new Promise((resolve) => server.close(resolve));
      for (const connection of connections)
        if (connection.state === "head" || connection.state === "idle")
          connection.closeAfter(LAST_REQUEST_MS);
      const limit = setTimeout(() => {
        for (const connection of connections) connection.destroy();
      }, graceMs);
      await closed;
      clearTimeout(limit);
    },
  };
}

/** Sends the answer whole; it is the connection's last one unless it is a 2xx to a request that arrived whole. */
async function send(
  response: Response,
  to: { message: IncomingMessage; answer: ServerResponse; connection: Connection; isEnding: boolean },
): Promise<void> {
  const { message, answer, connection, isEnding } = to;
  const body = await response.text();
  const { promise: sent, resolve } = Promise.withResolvers<void>();
  answer.once("close", resolve);
  connection.cork();
  answer.writeHead(response.status, {
    ...Object.fromEntries(response.headers),
    // RFC 9110, section 8.6: a 204 has none.
    ...(response.status === 204 ? {} : { "content-length": String(Buffer.byteLength(body)) }),
    ...(isEnding || !response.ok || !message.complete ? { connection: "close" } : {}),
  });
  answer.end(body);
  connection.uncork();
  await sent;
}

const HINTS: Record<string, string> = {
  EADDRINUSE: "Another process listens there: stop it, or choose another port",
  EACCES: "Ports below 1024 need a privilege: choose another port",
  EADDRNOTAVAIL: "The host must be an address of this machine, or 0.0.0.0",
};

function openSocket(
  { host, port, fd }: ListenAddress,
  onConnection: (socket: Socket) => void,
): Promise<Server> {
  const { promise, resolve, reject } = Promise.withResolvers<Server>();
  const server = createServer({ allowHalfOpen: true, noDelay: true }, onConnection);
  server.on("error", (cause: NodeJS.ErrnoException) => {
    const { code = "the runtime refused" } = cause;
    const where = fd === undefined ? `${host}:${port}` : `descriptor ${fd}`;
    const message = `Cannot listen on ${where}: ${code}`;
    const hint = HINTS[code] ?? "Check the address, the port and the unit's socket";
    reject(new OpsError({ code: "LISTEN_FAILED", message, hint, cause }));
  });
  server.listen(fd === undefined ? { host, port } : { fd }, () => resolve(server));
  return promise;
}
