import process from "node:process";
import { type Connection, ownConnection, pooledConnection } from "../runtime.ts";
import { type RunningLimit, startLimit } from "../timeout.ts";
import { type PeerAnswer, peerAnswer } from "./answer.ts";
import { readBody } from "./body.ts";
import { keepLoopbackOffProxies } from "./proxy.ts";
import { parsePublishedRate } from "./published-rate.ts";
import { splitCredentials } from "./url.ts";

/**
 * The result of a call, judged by its answer or by the lack of one.
 *
 * Shape: `answered` is a 2xx that arrived whole; `not_sent`: it provably failed before the request; `rejected` is an
 *        answer that the peer's contract calls definitive; `throttled` is a 429; everything else is `ambiguous`: it may
 *        have been accepted.
 */
export type CallClass = "answered" | "not_sent" | "rejected" | "throttled" | "ambiguous";

/** Why there is no whole answer. */
export type CallProblem =
  | "unreachable"
  | "timeout"
  | "connection_lost"
  | "aborted"
  | "answer_too_large"
  | "request_invalid";

/** The classified end of one call; `answer` may be present without its body. */
export type CallResult =
  | { status: "answered" | "rejected"; answer: PeerAnswer; problem: null }
  | { status: "throttled"; answer: PeerAnswer; problem: null; retryAfterMs: number }
  | { status: "not_sent"; answer: null; problem: CallProblem }
  | { status: "ambiguous"; answer: PeerAnswer | null; problem: CallProblem | null };

/** One finished call for the log: no header, no body, no host, no query, and a telephone number in the path masked. */
export type CallRecord = {
  peer: string;
  method: string;
  path: string;
  class: CallClass;
  problem: CallProblem | null;
  status: number | null;
  requestId: string | null;
  durationMs: number;
};

/**
 * One call to a peer.
 *
 * Shape: `url` as `peerUrl` makes it; `headers` carry opened secrets and never leave this module; `definitive` says
 *        the answers that the peer's contract calls a refusal (not called for 408 and 409); `unixSocket` is the path of
 *        the socket through which a GET is sent.
 * Units: `timeoutMs` covers connecting, the request and the whole answer; `maxAnswerBytes` is 1 MiB unless given.
 */
export type PeerCall = {
  peer: string;
  method: "GET" | "POST" | "PUT";
  url: URL | null;
  headers: Record<string, string>;
  body?: unknown;
  timeoutMs: number;
  maxAnswerBytes?: number;
  unixSocket?: string | undefined;
  signal?: AbortSignal | undefined;
  definitive?: (answer: PeerAnswer) => boolean;
  onCall?: ((record: CallRecord) => void) | undefined;
};

/** What of a call is the caller's choice. */
export type CallOptions = Pick<PeerCall, "timeoutMs" | "signal" | "onCall">;

const MAX_ANSWER_BYTES = 1_048_576;
const DEFAULT_RETRY_MS = 1_000;
const OUR_HEADERS = { accept: "application/json", "accept-encoding": "identity", "user-agent": "opsctl" };

/**
 * Calls a peer once and returns the result; never throws and never repeats.
 *
 * Behaviour: a POST or PUT has a connection of its own, redirects are answers, the body is asked for uncompressed and
 *            read up to the cap. An abort before the call is `not_sent`, a later one `ambiguous`.
 * Source:    what both runtimes did on local sockets, 2026-11-21; see `runtime.ts`.
 */
export async function callPeer(call: PeerCall): Promise<CallResult> {
  const startedMs = performance.now();
  const result = await perform(call);
  call.onCall?.({
    peer: call.peer,
    method: call.method,
    path: withoutNumbers(call.url?.pathname ?? ""),
    class: result.status,
    problem: result.problem,
    status: result.answer?.status ?? null,
    requestId: result.answer?.requestId ?? null,
    durationMs: Math.round(performance.now() - startedMs),
  });
  return result;
}

/** Nine digits or more, with the marks that people or percent-encoding put between them. */
const NUMBER = /\d(?:(?:[-.()]|%2[0B])*\d){8,}/gi;

// People choose the names of the gateway's instances, and often take the number that they send with.
function withoutNumbers(path: string): string {
  return path.replace(NUMBER, (number) => `***${number.replace(/%2[0B]|\D/gi, "").slice(-4)}`);
}

async function perform(call: PeerCall): Promise<CallResult> {
  if (call.signal?.aborted) return notSent("aborted");
  const request = requestOf(call);
  if (request === null) return notSent("request_invalid");
  if (call.unixSocket === undefined) keepLoopbackOffProxies(request.url, process.env);
  const connection = call.method === "GET" ? pooledConnection(call.unixSocket) : ownConnection();
  const limit = startLimit({ limitMs: call.timeoutMs, signal: call.signal });
  try {
    return await exchange(call, request, connection, limit);
  } finally {
    limit.clear();
    connection.close();
  }
}

type PlainRequest = { url: URL; init: RequestInit };

// Finds every fault of the request itself before a connection exists. The runtime's own messages quote header values,
// secrets included, so they are dropped.
function requestOf(call: PeerCall): PlainRequest | null {
  if (call.url === null) return null;
  try {
    const { url, authorization } = splitCredentials(call.url);
    const headers = new Headers({ ...OUR_HEADERS, ...call.headers });
    if (authorization !== null && !headers.has("authorization")) headers.set("authorization", authorization);
    const init: RequestInit = { method: call.method, headers, redirect: "manual" };
    if (call.body === undefined) return { url, init };
    headers.set("content-type", "application/json");
    return { url, init: { ...init, body: JSON.stringify(call.body) } };
  } catch {
    return null;
  }
}

async function exchange(
  call: PeerCall,
  request: PlainRequest,
  connection: Connection,
  limit: RunningLimit,
): Promise<CallResult> {
  let response: Response;
  try {
    response = await fetch(request.url, { ...request.init, ...connection.init, signal: limit.signal });
  } catch (error) {
    const nothingSent = connection.nothingWasSent(error, request.url);
    if (nothingSent) return notSent(limit.cause() ?? "unreachable");
    return { status: "ambiguous", answer: null, problem: limit.cause() ?? "connection_lost" };
  }
  try {
    const text = await readBody(response, call.maxAnswerBytes ?? MAX_ANSWER_BYTES);
    const answer = peerAnswer(response, text);
    if (text === null) return { status: "ambiguous", answer, problem: "answer_too_large" };
    return classify(answer, call.definitive ?? (() => false));
  } catch {
    const problem = limit.cause() ?? "connection_lost";
    return { status: "ambiguous", answer: peerAnswer(response, null), problem };
  }
}

function classify(answer: PeerAnswer, definitive: (answer: PeerAnswer) => boolean): CallResult {
  const { status } = answer;
  if (status >= 200 && status <= 299) return { status: "answered", answer, problem: null };
  if (mayBeDefinitive(status) && definitive(answer)) return { status: "rejected", answer, problem: null };
  if (status !== 429) return { status: "ambiguous", answer, problem: null };
  const { retryAfterMs, resetMs } = parsePublishedRate(answer.headers);
  return {
    status: "throttled",
    answer,
    problem: null,
    retryAfterMs: retryAfterMs ?? resetMs ?? DEFAULT_RETRY_MS,
  };
}

function mayBeDefinitive(status: number): boolean {
  return status === 503 || (status >= 400 && status <= 499 && status !== 408 && status !== 409);
}

function notSent(problem: CallProblem): CallResult {
  return { status: "not_sent", answer: null, problem };
}
