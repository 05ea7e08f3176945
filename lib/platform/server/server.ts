import type { Buffer } from "node:buffer";
import {
  createServer,
  type Server as HttpServer,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import type { Server, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { OpsError } from "../errors.ts";
import { Allowance } from "./allowance.ts";
import { Connections, IDLE_MS, type Phase, type PhaseLimits } from "./connections.ts";
import { descriptorLimit } from "./descriptor-limit.ts";
import { type ListenAddress, openListeningSocket } from "./listening-socket.ts";
import { type GateAllowances, RequestGate } from "./request-gate.ts";
import { type Exchange, type Fetch, type Origin, serveRequest } from "./serve-request.ts";

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
 * Shape: `connections` open at once; `unreadBytes` received and not read yet, in all connections together; `phasesMs`
 *        replace the usual time limits; `onCrowded` is called with how many connections were closed for others, at most
 *        once a minute; `onMalformed` for each request that is no proper HTTP, which `fetch` never sees.
 */
export type ServerLimits = {
  connections: number;
  unreadBytes: number;
  phasesMs: PhaseLimits;
  onCrowded: (closed: number) => void;
  onMalformed: (status: number, origin: Origin) => void;
};

const LIMITS: ServerLimits = {
  connections: 2_000,
  unreadBytes: 268_435_456,
  phasesMs: {},
  onCrowded() {},
  onMalformed() {},
};
/** How many connections may wait for their end while their sender goes on sending. */
const WAITING_CLOSERS = 16;
/** Descriptors that are not for connections but for state, peers and the runtime. */
const RESERVED_DESCRIPTORS = 256;
/** The largest head of a request. */
const MAX_HEAD_BYTES = 16_384;

/**
 * Serves `fetch` over HTTP/1.1 at an address, or at a listening socket that was handed over as `fd`.
 *
 * Behaviour: node:net listens and node:http parses, on both runtimes: so each connection is read no faster than it is
 *            answered, the path arrives as it was sent, and a connection whose body is not wanted can be closed.
 *            Bun.serve, Deno.serve and a listening node:http read on without limit. A connection ends with its first
 *            answer that is not a 2xx.
 * Errors:    LISTEN_FAILED.
 */
export async function listen({
  fetch,
  limits,
  ...address
}: ListenAddress & { fetch: Fetch; limits?: Partial<ServerLimits> }): Promise<Listener> {
  const { connections: most, unreadBytes, phasesMs, onCrowded, onMalformed } = { ...LIMITS, ...limits };
  const connections = new Connections({ most: withinDescriptors(most), limitsMs: phasesMs, onCrowded });
  const allowances = {
    unreadBytes: new Allowance(unreadBytes),
    waitingClosers: new Allowance(WAITING_CLOSERS),
  };
  const parser = parserServer({ fetch, connections, onMalformed });
  const opened = await openListeningSocket(address, (socket) =>
    accept(socket, connections, allowances, parser),
  ).catch((cause: unknown) => {
    throw listenFailed(address, cause);
  });
  // Deno closes every connection after its answer when the parsing server is not listening.
  Object.defineProperty(parser, "listening", { get: () => opened.listening });
  return {
    port: portOf(opened),
    async stop(graceMs) {
      opened.close();
      await connections.end(graceMs);
    },
  };
}

function withinDescriptors(most: number): number {
  const limit = descriptorLimit();
  return limit === null
    ? most
    : Math.min(most, Math.max(limit - RESERVED_DESCRIPTORS, Math.floor(limit / 2)));
}

/** Parses requests and answers them; it listens nowhere itself. */
function parserServer({
  fetch,
  connections,
  onMalformed,
}: Pick<Exchange, "fetch" | "onMalformed"> & { connections: Connections }): HttpServer {
  const server = createServer({
    keepAliveTimeout: IDLE_MS,
    maxHeaderSize: MAX_HEAD_BYTES,
    requireHostHeader: false,
  });
  const on = (event: string, more: (answer: ServerResponse) => Partial<Exchange> = () => ({})) =>
    server.on(event, (message: IncomingMessage, answer: ServerResponse) => {
      const isEnding = () => connections.isEnding;
      const parts = { fetch, message, answer, isEnding, onMalformed, onBodyWanted() {} };
      void serveRequest({ ...parts, ...more(answer) });
    });
  on("request");
  on("checkContinue", (answer) => ({ onBodyWanted: () => answer.writeContinue() }));
  on("checkExpectation", () => ({ fetch: () => new Response(null, { status: 417 }) }));
  return server.on("clientError", (error: NodeJS.ErrnoException, socket: Duplex) =>
    refuseMalformed(error, socket, onMalformed),
  );
}

/** Gives a connection to the parser when its first bytes have come: until then it costs little more than its socket. */
function accept(
  socket: Socket,
  connections: Connections,
  allowances: GateAllowances,
  parser: HttpServer,
): void {
  if (!connections.add(socket)) {
    socket.destroy();
    return;
  }
  const leave = () => socket.end();
  socket.once("end", leave);
  socket.once("data", (first: Buffer) => {
    socket.off("end", leave);
    const enter = (phase: Phase) => connections.enter(socket, phase);
    parser.emit("connection", new RequestGate(socket, first, allowances, enter));
  });
}

/** Refuses what the parser cannot read and closes the connection, as after every refusal. */
function refuseMalformed(
  error: NodeJS.ErrnoException,
  socket: Duplex,
  onMalformed: Exchange["onMalformed"],
): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const isTooLarge = error.code === "HPE_HEADER_OVERFLOW";
  const line = isTooLarge ? "431 Request Header Fields Too Large" : "400 Bad Request";
  socket.end(`HTTP/1.1 ${line}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
  // A connection that breaks is no request.
  if (!error.code?.startsWith("HPE_")) return;
  onMalformed(isTooLarge ? 431 : 400, { address: (socket as Partial<Socket>).remoteAddress ?? null });
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
