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
 * Shape: `onBodyWanted` is called before the body is read for the first time; `isEnding` says whether the server is
 *        ending.
 */
export type Exchange = {
  fetch: Fetch;
  message: IncomingMessage;
  answer: ServerResponse;
  onBodyWanted: () => void;
  isEnding: () => boolean;
};

/**
 * Sends what `fetch` returns for a request; when that fails, the connection is closed without an answer.
 *
 * Errors: none thrown.
 */
export async function serveRequest({
  fetch,
  message,
  answer,
  onBodyWanted,
  isEnding,
}: Exchange): Promise<void> {
  (message.socket as unknown as RequestGate).began(message, answer);
  // A sender that leaves is no failure of ours; without these listeners it would end the process.
  message.on("error", () => {});
  answer.on("error", () => {});
  try {
    const response = refusal(message) ?? (await fetchOr400(fetch, message, onBodyWanted));
    await sendResponse(response, message, answer, isEnding());
  } catch {
    message.socket.destroy();
  }
}

function refusal(message: IncomingMessage): Response | null {
  const status = protocolProblem(message);
  return status === null ? null : new Response(null, { status });
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

async function fetchOr400(
  fetch: Fetch,
  message: IncomingMessage,
  onBodyWanted: () => void,
): Promise<Response> {
  const request = requestOf(message, onBodyWanted);
  if (request === null) return new Response(null, { status: 400 });
  const { remoteAddress } = message.socket;
  return await fetch(request, { address: remoteAddress ?? null });
}

function requestOf(message: IncomingMessage, onBodyWanted: () => void): Request | null {
  try {
    return webRequest(message, onBodyWanted);
  } catch {
    return null;
  }
}
