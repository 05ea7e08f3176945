import type { IncomingMessage, ServerResponse } from "node:http";
import { webRequest } from "./request.ts";
import type { RequestGate } from "./request-gate.ts";
import { sendResponse } from "./response.ts";

const VERSIONS = new Set(["1.0", "1.1"]);

/** Where a request came from: the address at the other end of its connection, null when it has gone. */
export type Origin = { address: string | null };

/** Makes the response to a request. */
export type Fetch = (request: Request, origin: Origin) => Response | Promise<Response>;

/**
 * A request of node:http and what it takes to answer it.
 *
 * Shape: `onBodyWanted` is called before the body is read for the first time; `onMalformed` when the request is not
 *        written as HTTP demands; `isEnding` says whether the server is ending.
 */
export type Exchange = {
  fetch: Fetch;
  message: IncomingMessage;
  answer: ServerResponse;
  onBodyWanted: () => void;
  onMalformed: (status: number, origin: Origin) => void;
  isEnding: () => boolean;
};

/**
 * Sends what `fetch` returns for a request; when that fails, the connection is closed without an answer.
 *
 * Errors: none thrown.
 */
export async function serveRequest(exchange: Exchange): Promise<void> {
  const { message, answer, isEnding } = exchange;
  (message.socket as unknown as RequestGate).began(message, answer);
  // A sender that leaves is no failure of ours; without these listeners it would end the process.
  message.on("error", () => {});
  answer.on("error", () => {});
  try {
    const response = await responseTo(exchange);
    await sendResponse(response, message, answer, isEnding());
  } catch {
    message.socket.destroy();
  }
}

async function responseTo(exchange: Exchange): Promise<Response> {
  const { fetch, message, onMalformed } = exchange;
  const origin = { address: message.socket.remoteAddress ?? null };
  const request = requestOf(exchange);
  if (request instanceof Request) return await fetch(request, origin);
  onMalformed(request, origin);
  return new Response(null, { status: request });
}

/** The request, or the status that refuses it. */
function requestOf({ message, onBodyWanted }: Exchange): Request | number {
  const status = protocolProblem(message);
  if (status !== null) return status;
  try {
    return webRequest(message, onBodyWanted);
  } catch {
    return 400;
  }
}

/**
 * The status that refuses a request which is not written as HTTP demands; null for a proper one.
 *
 * Behaviour: HTTP/1.0 or 1.1, with one `Host`, which HTTP/1.0 may leave out. Neither runtime checks all of this.
 * Source:    RFC 9112, sections 2.3 and 3.2, read 2026-11-22.
 */
function protocolProblem({ httpVersion, rawHeaders }: IncomingMessage): 400 | 505 | null {
  if (!VERSIONS.has(httpVersion)) return 505;
  const hosts = rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === "host").length;
  return hosts > 1 || (hosts === 0 && httpVersion === "1.1") ? 400 : null;
}
