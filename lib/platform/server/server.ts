import { Buffer } from "node:buffer";
import { createServer as createParser, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer, type Server, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { OpsError } from "../errors.ts";
import { textOrEmpty } from "../text-or-empty.ts";
import { Connection, type ConnectionState, type StateLimits } from "./connection.ts";
import { webRequest } from "./request.ts";

/** Where connections come in: an address, or as `fd` a listening socket that was handed over. */
export type ListenAddress = { host: string; port: number; fd?: number | undefined };

/** Where a request came from: the address at the other end of its connection, null when it has gone. */
export type Origin = { address: string | null };

/** Makes the response to a request. */
export type Fetch = (request: Request, origin: Origin) => Response | Promise<Response>;

/**
 * A server that listens.
 *
 * Shape:     `port` is the port it listens on; 0 for a socket that has none.
 * Behaviour: `stop` takes no new connections, lets requests in flight finish within `graceMs`, then closes the rest.
 */
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
  statesMs: StateLimits;
  onCrowded: () => void;
  onMalformed: (status: number, origin: Origin) => void;
};

/**
 * An idle connection rests for longer than proxies keep theirs, so that they close first: a request that meets a
 * connection which is being closed is lost, and no proxy sends a POST twice. Most keep theirs for 60 or 90 seconds,
 * Caddy for 120, Google's load balancers for 600.
 */
const STATES_MS = { head: 10_000, answering: 30_000, idle: 660_000, closing: 1_000 };
const LIMITS: ServerLimits = { connections: 2_000, statesMs: {}, onCrowded() {}, onMalformed() {} };
/** How many of the process's descriptors may be connections; state and external services need the others. */
const SHARE_OF_DESCRIPTORS = 0.75;
/** How long an open connection may take to bring a request while the server ends. */
const LAST_REQUEST_MS = 1_000;
/** The largest head of a request. */
const MAX_HEAD_BYTES = 16_384;

/**
 * Serves `fetch` over HTTP/1.1 at an address, or at a listening socket that was handed over as `fd`.
 *
 * Behaviour: node:net listens and node:http parses, on both runtimes: a listening node:http, Bun.serve and Deno.serve
 *            read on without limit, and Bun's take no descriptor. A connection ends with its first answer that is not a
 *            2xx. When all connections are taken, a new one takes the place of one that is closing, has brought no
 *            request or rests; where all are at work, the new one is closed. Stopping does not close a socket that was
 *            handed over: its holder keeps what arrives.
 * Errors:    LISTEN_FAILED.
 */
export async function listen({
  fetch,
  limits,
  ...address
}: ListenAddress & { fetch: Fetch; limits?: Partial<ServerLimits> }): Promise<Listener> {
  const { statesMs, onCrowded, onMalformed, ...limit } = { ...LIMITS, ...limits };
  const most = Math.min(limit.connections, descriptorLimit() * SHARE_OF_DESCRIPTORS);
  const limitsMs = { ...STATES_MS, ...statesMs };
  const connections = new Set<Connection>();
  let isEnding = false;
  const serve: Serve = { fetch, onMalformed, isEnding: () => isEnding };
  const parser = parserServer(serve);
  const opened = await openSocket(address, (socket) => {
    if (connections.size >= most) {
      onCrowded();
      if (!makeRoom(connections)) {
        socket.destroy();
        return;
      }
    }
    // The parser gets it with its first bytes: until then it costs little more than its socket.
    const connection = new Connection(socket, limitsMs, () => parser.emit("connection", connection));
    connections.add(connection);
    connection.once("close", () => connections.delete(connection));
  });
  // Deno closes every connection after its answer when the parsing server is not listening.
  Object.defineProperty(parser, "listening", { get: () => opened.listening });
  return {
    port: portOf(opened),
    async stop(graceMs) {
      isEnding = true;
      const closed = new Promise((resolve) => opened.close(resolve));
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

/** How many descriptors this process may have open: proc_pid_limits(5), the soft limit. */
function descriptorLimit(): number {
  const soft = /^Max open files\s+(\d+)/m.exec(textOrEmpty("/proc/self/limits"))?.[1];
  return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft);
}

type Serve = { fetch: Fetch; onMalformed: ServerLimits["onMalformed"]; isEnding: () => boolean };

function openSocket(
  { host, port, fd }: ListenAddress,
  onConnection: (socket: Socket) => void,
): Promise<Server> {
  const server = createServer({ allowHalfOpen: true, noDelay: true }, onConnection);
  return new Promise((resolve, reject) => {
    server.on("error", (cause) => reject(listenFailed({ host, port, fd }, cause)));
    server.listen(fd === undefined ? { host, port } : { fd }, () => resolve(server));
  });
}

/** Closes the oldest connection without a request, else the oldest idle one; false where all are at work. */
function makeRoom(connections: Set<Connection>): boolean {
  const oldest = (...states: ConnectionState[]) =>
    connections.values().find(({ state }) => states.includes(state));
  const leastNeeded = oldest("head", "closing") ?? oldest("idle");
  leastNeeded?.destroy();
  return leastNeeded !== undefined && connections.delete(leastNeeded);
}

/** Parses requests and answers them; it listens nowhere itself. */
function parserServer(serve: Serve) {
  const parser = createParser({
    keepAliveTimeout: STATES_MS.idle,
    maxHeaderSize: MAX_HEAD_BYTES,
    requireHostHeader: false,
  });
  parser.on("request", (message, answer) => void respond(message, answer, serve));
  parser.on(
    "checkContinue",
    (message, answer) => void respond(message, answer, serve, () => answer.writeContinue()),
  );
  const expectationFailed = { ...serve, fetch: () => new Response(null, { status: 417 }) };
  parser.on("checkExpectation", (message, answer) => void respond(message, answer, expectationFailed));
  return parser.on("clientError", (error: NodeJS.ErrnoException, socket: Duplex) =>
    refuseMalformed(error, socket as Connection, serve.onMalformed),
  );
}

/** Sends what `fetch` returns for a request; when that fails, the connection is closed without an answer. */
async function respond(
  message: IncomingMessage,
  answer: ServerResponse,
  { fetch, onMalformed, isEnding }: Serve,
  onBodyRead: () => void = () => {},
): Promise<void> {
  const connection = message.socket as unknown as Connection;
  connection.began(message, answer);
  // A sender that leaves is no failure of ours; without these listeners it would end the process.
  message.on("error", () => {});
  answer.on("error", () => {});
  try {
    const origin = { address: connection.remoteAddress ?? null };
    const request = webRequest(message, (isFirst) => {
      if (isFirst) onBodyRead();
      connection.wantBody();
    });
    if (typeof request === "number") onMalformed(request, origin);
    const response =
      typeof request === "number" ? new Response(null, { status: request }) : await fetch(request, origin);
    await send(response, { message, answer, connection, isEnding: isEnding() });
  } catch {
    connection.destroy();
  }
}

/** Sends the answer whole; it is the connection's last one unless it is a 2xx to a request that arrived whole. */
async function send(
  response: Response,
  to: { message: IncomingMessage; answer: ServerResponse; connection: Connection; isEnding: boolean },
): Promise<void> {
  const { message, answer, connection, isEnding } = to;
  const body = await response.text();
  connection.enter("answering");
  connection.cork();
  answer.writeHead(response.status, {
    ...Object.fromEntries(response.headers),
    // RFC 9110, section 8.6: a 204 has none.
    ...(response.status === 204 ? {} : { "content-length": String(Buffer.byteLength(body)) }),
    ...(isEnding || !response.ok || !message.complete ? { connection: "close" } : {}),
  });
  answer.end(body);
  connection.uncork();
}

/** Refuses what the parser cannot read and closes the connection, as after every refusal. */
function refuseMalformed(
  error: NodeJS.ErrnoException,
  connection: Connection,
  onMalformed: Serve["onMalformed"],
): void {
  if (!connection.writable) {
    connection.destroy();
    return;
  }
  const isTooLarge = error.code === "HPE_HEADER_OVERFLOW";
  const line = isTooLarge ? "431 Request Header Fields Too Large" : "400 Bad Request";
  connection.end(`HTTP/1.1 ${line}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
  // A connection that breaks is no request.
  if (error.code?.startsWith("HPE_"))
    onMalformed(isTooLarge ? 431 : 400, { address: connection.remoteAddress ?? null });
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

function listenFailed({ host, port, fd }: ListenAddress, cause: unknown): OpsError {
  const { code } = cause as { code?: unknown };
  const where = fd === undefined ? `${host}:${port}` : `descriptor ${fd}`;
  return new OpsError({
    code: "LISTEN_FAILED",
    message: `Cannot listen on ${where}: ${typeof code === "string" ? code : "the runtime refused"}`,
    hint: HINTS[String(code)] ?? "Check the address, the port and the unit's socket",
    cause,
  });
}
