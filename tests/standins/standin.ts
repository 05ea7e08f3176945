/**
 * What the stand-ins have in common: a local server on node:http, a ledger of everything it saw, and faults that can
 * be ordered for the calls to come. Works in tests, demo and benchmark, under Bun, Deno and Node.js.
 */
import { Buffer } from "node:buffer";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { freePort } from "../support/free-port.ts";

/** One request as it arrived, and the status it was answered with (null: none). */
export type LedgerEntry = {
  at: Date;
  atMs: number;
  method: string;
  path: string;
  headers: Record<string, string>;
  rawBody: string;
  /** The parsed body; undefined when it is not JSON. */
  body: unknown;
  /** Counts the connections of this stand-in; two requests on one connection share the number. */
  connection: number;
  unexpected: boolean;
  status: number | null;
};

/** An answer to be given as it is; `json` or `text` is its body. */
export type Answer = {
  status: number;
  json?: unknown;
  text?: string;
  headers?: Record<string, string>;
};

/**
 * What goes wrong with an answer.
 *
 * `hang` never answers; `drop_unread` closes on the head, without reading the body; `drop` closes after all was read;
 * `stall_body` and `break_body` send the status and half a body; `not_json` is a 200 page; `huge` is 4 MiB, `bomb` as
 * much, gzipped; `not_http` is a line of something else.
 */
export type Fault =
  | "hang"
  | "drop_unread"
  | "drop"
  | "stall_body"
  | "break_body"
  | "not_json"
  | "huge"
  | "bomb"
  | "not_http";

/**
 * What happens to one call instead of the usual: an answer, a fault, or both the usual work (`accept`) and a fault
 * in the place of its answer.
 */
export type Scripted = Answer | Fault | { accept: Fault } | { accept: Answer };

/** One route: its pattern, the real work, and what is ordered for its next calls. */
export type Route = {
  /** The calls that came to this route, in order. */
  calls: LedgerEntry[];
  /** Orders what becomes of the next calls, one each. */
  next(...scripted: Scripted[]): void;
  /** What `next` has ordered and no call has taken yet. */
  ordered: Scripted[];
  /** Decides for every call that `next` does not; undefined is the usual work. */
  script: ((entry: LedgerEntry) => Scripted | undefined) | null;
  /** The same for what `next` and `script` leave open, once the body has been read. */
  scriptByBody: ((entry: LedgerEntry) => Scripted | undefined) | null;
};

/** How a route is declared; `work` takes the stand-in's latency and is awaited where a real peer takes its time. */
export type RouteSpec = {
  method: string;
  pattern: RegExp;
  handle(entry: LedgerEntry, match: RegExpMatchArray, work: () => Promise<void>): Promise<Answer>;
};

/** A running stand-in. */
export type StandIn<Name extends string> = {
  url: string;
  ledger: LedgerEntry[];
  unexpected: LedgerEntry[];
  /** How many calls have got no answer, or half of one. */
  unanswered: number;
  /** How many of those are not given up yet. */
  hanging: number;
  routes: Record<Name, Route>;
  /** How long every answer takes; may be changed while running. */
  latencyMs: number;
  stop(): Promise<void>;
};

/** Settings that every stand-in takes. */
export type StandInOptions = {
  latencyMs?: number | undefined;
  /** A path before all routes, as behind a proxy: `/gateway`. */
  prefix?: string | undefined;
  port?: number | undefined;
  /** The address to listen at; loopback when absent. */
  host?: string | undefined;
  /** A path to listen at instead of a port. */
  unixSocket?: string | undefined;
  /** The clock of its ledger; the machine's unless told otherwise. */
  clock?: (() => Date) | undefined;
};

type Core = StandInOptions & {
  /** Answers before every route, and where no route is; null lets the request pass. */
  gate?(entry: LedgerEntry): Answer | null;
  /** The answer to a path that no route has. */
  notFound(entry: LedgerEntry): Answer;
  /** Runs before every usual answer; the headers go onto it. */
  headers?(entry: LedgerEntry): Record<string, string>;
};

/** Starts a stand-in with the given routes. */
export async function startStandIn<Name extends string>(
  specs: Record<Name, RouteSpec>,
  core: Core,
): Promise<StandIn<Name>> {
  const names = Object.keys(specs) as Name[];
  const routes = Object.fromEntries(names.map((name) => [name, newRoute()])) as unknown as Record<
    Name,
    Route
  >;
  const connections = new Map<Socket, number>();
  let opened = 0;
  const server = createServer((request, response) => {
    response.on("error", () => {});
    request.on("error", () => {});
    // A client that gave up is what some tests are about.
    serve(request, response).catch(() => request.socket.destroy());
  });
  server.keepAliveTimeout = 60_000;

  const standIn: StandIn<Name> = {
    url: "",
    ledger: [],
    unexpected: [],
    unanswered: 0,
    hanging: 0,
    routes,
    latencyMs: core.latencyMs ?? 0,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };

  const work = async () => {
    if (standIn.latencyMs > 0) await delay(standIn.latencyMs);
  };

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!connections.has(request.socket)) connections.set(request.socket, ++opened);
    const entry = ledgerEntry(request, connections.get(request.socket)!, core.clock?.() ?? new Date());
    const prefix = core.prefix ?? "";
    const path = entry.path.split("?")[0]!;
    const inside = path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : null;
    const name = names.find(
      (n) => specs[n].method === entry.method && inside !== null && specs[n].pattern.test(inside),
    );
    entry.unexpected = name === undefined;
    standIn.ledger.push(entry);
    if (name === undefined) standIn.unexpected.push(entry);
    else routes[name].calls.push(entry);
    const scripted =
      name === undefined ? undefined : (routes[name].ordered.shift() ?? routes[name].script?.(entry));
    if (scripted === "drop_unread") return void request.socket.destroy();
    await readInto(entry, request);
    const byBody = name === undefined ? undefined : routes[name].scriptByBody?.(entry);
    const answer = await answerFor(entry, scripted ?? byBody, name, inside ?? "");
    if (answer !== "hang") await give(request, response, entry, answer);
    if (answer !== "hang" && answer !== "stall_body") return;
    standIn.unanswered += 1;
    standIn.hanging += 1;
    request.socket.once("close", () => {
      standIn.hanging -= 1;
    });
  }

  async function answerFor(
    entry: LedgerEntry,
    scripted: Scripted | undefined,
    name: Name | undefined,
    inside: string,
  ): Promise<Answer | Fault> {
    const instead = typeof scripted === "object" && "accept" in scripted ? scripted.accept : null;
    if (scripted !== undefined && instead === null) {
      await work();
      return scripted as Answer | Fault;
    }
    const stopped = core.gate?.(entry) ?? null;
    if (stopped !== null) return instead ?? stopped;
    if (name === undefined) return core.notFound(entry);
    const usual = await specs[name].handle(entry, inside.match(specs[name].pattern)!, work);
    const headers = { ...core.headers?.(entry), ...usual.headers };
    return instead ?? { ...usual, headers };
  }

  const host = core.host ?? "127.0.0.1";
  // Not any port: when this one has stopped, a neighbour's stand-in must not get the calls that are to be refused.
  const port = core.port ?? (await freePort());
  await new Promise<void>((resolve) => {
    if (core.unixSocket === undefined) server.listen(port, host, resolve);
    else server.listen(core.unixSocket, resolve);
  });
  standIn.url =
    core.unixSocket === undefined
      ? `http://${host}:${(server.address() as AddressInfo).port}${core.prefix ?? ""}`
      : `unix://${core.unixSocket}`;
  return standIn;
}

function newRoute(): Route {
  const ordered: Scripted[] = [];
  return {
    calls: [],
    script: null,
    scriptByBody: null,
    ordered,
    next: (...scripted) => void ordered.push(...scripted),
  };
}

function ledgerEntry(request: IncomingMessage, connection: number, at: Date): LedgerEntry {
  const headers = Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(", ") : (value ?? ""),
    ]),
  );
  return {
    at,
    atMs: performance.now(),
    method: request.method ?? "",
    // Deno sends the whole URL through a Unix socket, which every server has to take (RFC 9112, 3.2.2).
    path: (request.url ?? "").replace(/^http:\/\/[^/]*/, ""),
    headers,
    rawBody: "",
    body: undefined,
    connection,
    unexpected: false,
    status: null,
  };
}

async function readInto(entry: LedgerEntry, request: IncomingMessage): Promise<void> {
  const parts: Uint8Array[] = [];
  for await (const part of request) parts.push(part as Uint8Array);
  entry.rawBody = new TextDecoder().decode(Buffer.concat(parts));
  try {
    entry.body = JSON.parse(entry.rawBody);
  } catch {
    // Stays undefined: not JSON.
  }
}

const HUGE = Buffer.alloc(4 * 1_048_576, 0x20);

async function give(
  request: IncomingMessage,
  response: ServerResponse,
  entry: LedgerEntry,
  answer: Answer | Exclude<Fault, "hang">,
): Promise<void> {
  const json = { "content-type": "application/json" };
  if (typeof answer === "object") {
    entry.status = answer.status;
    response.writeHead(answer.status, { ...json, ...answer.headers });
    response.end(answer.text ?? (answer.json === undefined ? "" : JSON.stringify(answer.json)));
    return;
  }
  switch (answer) {
    case "drop":
    case "drop_unread":
      request.socket.destroy();
      return;
    case "stall_body":
    case "break_body":
      entry.status = 200;
      response.writeHead(200, { ...json, "content-length": "1000" });
      await new Promise<void>((resolve) => response.write('{"id":"half of an ans', () => resolve()));
      if (answer === "break_body") request.socket.destroy();
      return;
    case "not_json":
      entry.status = 200;
      response.writeHead(200, { "content-type": "text/html" });
      response.end("<html><body>Welcome to the proxy</body></html>");
      return;
    case "huge":
    case "bomb":
      entry.status = 200;
      response.writeHead(200, answer === "bomb" ? { ...json, "content-encoding": "gzip" } : json);
      response.end(answer === "bomb" ? gzipSync(HUGE) : HUGE);
      return;
    case "not_http":
      request.socket.end("SSH-2.0-OpenSSH_9.9\r\n\r\n");
  }
}

/** Whether a value is an object with exactly these keys. */
export function hasExactly(value: unknown, keys: readonly string[]): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return Object.keys(value).length === keys.length && keys.every((key) => Object.hasOwn(value, key));
}
