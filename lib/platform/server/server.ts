import { Buffer } from "node:buffer";
import { once } from "node:events";
import * as http from "node:http";
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

/** How many connections may be open, and for how long in a state; both have defaults. */
export type ServerLimits = {
  connections: number;
  statesMs: Partial<StateLimits>;
  /** A connection is closed because there are too many. */
  onOverCapacity: () => void;
  /** A request is no proper HTTP; `fetch` does not see it. */
  onMalformed: (status: number, origin: Origin) => void;
};

// An idle connection is kept for longer than proxies keep theirs (60 to 600 s), so that they close first: a request that
// meets a connection which is being closed is lost, and no proxy sends a POST twice.
const STATES_MS = { head: 10_000, idle: 660_000, closing: 1_000 };
/** How long an open connection may take to bring a request while the server ends. */
const LAST_REQUEST_MS = 1_000;
const MAX_HEAD_BYTES = 16_384;

/**
 * Serves `fetch` over HTTP/1.1 at an address, or at a listening socket that was handed over as `fd`.
 *
 * Behaviour: node:net listens and node:http parses, on both runtimes: a listening node:http, Bun.serve and Deno.serve
 *            read on without limit, and Bun's take no descriptor. A connection ends with its first answer that is not a
 *            2xx. When all are taken, a new one replaces the oldest without a request, else the oldest idle one, else
 *            it is closed. A socket that was handed over stays open: its holder keeps what arrives.
 * Errors:    LISTEN_FAILED.
 */
export async function listen({
  fetch,
  limits: { connections: most = 2_000, statesMs, onOverCapacity = () => {}, onMalformed = () => {} } = {},
  ...address
}: ListenAddress & { fetch: Fetch; limits?: Partial<ServerLimits> }): Promise<Listener> {
  const connections = new Set<Connection>();
  let isEnding = false;
  const parser = http.createServer({ maxHeaderSize: MAX_HEAD_BYTES, requireHostHeader: false });
  parser.keepAliveTimeout = STATES_MS.idle;
  const connectionOf = ({ socket }: { socket: unknown }) => socket as Connection;
  const refuse = (connection: Connection, status: number) => {
    const head = `HTTP/1.1 ${status} ${http.STATUS_CODES[status]}\r\nConnection: close\r\nContent-Length: 0`;
    connection.end(`${head}\r\n\r\n`);
    onMalformed(status, connection.origin);
  };
  const onRequest = (message: http.IncomingMessage, answer: http.ServerResponse) => {
    const connection = connectionOf(message);
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
      const response = await fetch(request, connection.origin);
      await send(response, answer, () => isEnding || !response.ok || !message.complete);
    });
  };
  parser.on("request", onRequest).on("checkContinue", onRequest).on("checkExpectation", onRequest);
  parser.on("clientError", ({ code = "" }: NodeJS.ErrnoException, socket) => {
    const connection = connectionOf({ socket });
    const status = code === "HPE_HEADER_OVERFLOW" ? 431 : 400;
    if (!socket.writable || !code.startsWith("HPE_")) socket.destroy();
    else connection.breakOff(() => refuse(connection, status));
  });
  const server = await openSocket(address, (socket) => {
    if (connections.size >= most) {
      onOverCapacity();
      const oldest = (...of: string[]) => connections.values().find(({ state }) => of.includes(state));
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
        if (["head", "idle"].includes(connection.state)) connection.closeAfter(LAST_REQUEST_MS);
      const limit = setTimeout(() => connections.forEach((connection) => void connection.destroy()), graceMs);
      await closed;
      clearTimeout(limit);
    },
  };
}

/** Sends the answer whole, and closes the connection behind it when it `isLast`. */
async function send(response: Response, answer: http.ServerResponse, isLast: () => boolean): Promise<void> {
  const body = await response.text();
  const sent = once(answer, "close");
  answer.req.socket.cork();
  answer.writeHead(response.status, {
    ...Object.fromEntries(response.headers),
    // RFC 9110, section 8.6: a 204 has none.
    ...(response.status === 204 ? {} : { "content-length": String(Buffer.byteLength(body)) }),
    ...(isLast() ? { connection: "close" } : {}),
  });
  answer.end(body);
  answer.req.socket.uncork();
  await sent;
}

const HINTS: Record<string, string> = {
  EADDRINUSE: "Another process listens there: stop it, or choose another port",
  EACCES: "Ports below 1024 need a privilege: choose another port",
  EADDRNOTAVAIL: "The host must be an address of this machine, or 0.0.0.0",
};

function openSocket({ host, port, fd }: ListenAddress, onOpen: (socket: Socket) => void): Promise<Server> {
  const server = createServer({ allowHalfOpen: true, noDelay: true }, onOpen);
  return new Promise((resolve, reject) => {
    server.on("error", (cause: NodeJS.ErrnoException) => {
      const { code = "the runtime refused" } = cause;
      const message = `Cannot listen on ${fd === undefined ? `${host}:${port}` : `descriptor ${fd}`}: ${code}`;
      const hint = HINTS[code] ?? "Check the address, the port and the unit's socket";
      reject(new OpsError({ code: "LISTEN_FAILED", message, hint, cause }));
    });
    server.listen(fd === undefined ? { host, port } : { fd }, () => resolve(server));
  });
}
