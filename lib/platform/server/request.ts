import { Buffer } from "node:buffer";
import type { IncomingMessage } from "node:http";

const VERSIONS = new Set(["1.0", "1.1"]);

/** Methods that a `Request` cannot have; no route serves them. */
const NOT_FETCHED = /^(CONNECT|TRACE|TRACK)$/i;

/**
 * The message as a standard `Request`, or the status that refuses one that is not written as HTTP demands.
 *
 * Behaviour: HTTP/1.0 or 1.1, with one `Host`, which HTTP/1.0 may leave out: neither runtime checks all of this. The
 *            path is exactly the one that was sent: one that a URL parser would tidy (`/a/../b`) is percent-encoded and
 *            matches no route. A header that was sent twice has both values, joined by a comma. A method that a
 *            `Request` cannot have becomes `OPTIONS`. `onBodyWanted` is called for each read of the body.
 * Source:    RFC 9112, sections 2.3 and 3.2, read 2026-11-22.
 */
export function webRequest(
  message: IncomingMessage,
  onBodyWanted: (isFirst: boolean) => void,
): Request | 400 | 505 {
  const { httpVersion, rawHeaders, method = "GET", url = "/" } = message;
  if (!VERSIONS.has(httpVersion)) return 505;
  const hosts = rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === "host").length;
  if (hosts > 1 || (hosts === 0 && httpVersion === "1.1")) return 400;
  const hasBody = method !== "GET" && method !== "HEAD";
  try {
    return new Request(urlOf(url), {
      method: NOT_FETCHED.test(method) ? "OPTIONS" : method,
      headers: headersOf(rawHeaders),
      ...(hasBody ? { body: bodyOf(message, onBodyWanted), duplex: "half" } : {}),
    } as RequestInit);
  } catch {
    // A header that the runtime cannot carry.
    return 400;
  }
}

function urlOf(target: string): string {
  const path = target.replace(/^https?:\/\/[^/?#]*/i, "");
  const url = `http://localhost${path}`;
  const isExact = /^\/[^#]*$/.test(path) && URL.canParse(url) && new URL(url).href === url;
  return isExact ? url : `http://localhost/${encodeURIComponent(path.toWellFormed())}`;
}

function headersOf(rawHeaders: readonly string[]): Headers {
  const headers = new Headers();
  for (let at = 0; at < rawHeaders.length; at += 2)
    headers.append(rawHeaders[at] as string, rawHeaders[at + 1] as string);
  return headers;
}

/** What arrives together is one piece. */
function bodyOf(
  message: IncomingMessage,
  onBodyWanted: (isFirst: boolean) => void,
): ReadableStream<Uint8Array> {
  let isBegun = false;
  let isOpen = true;
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const isFirst = !isBegun;
        isBegun = true;
        if (isFirst) listen(controller);
        onBodyWanted(isFirst);
      },
      cancel() {
        isOpen = false;
      },
    },
    { highWaterMark: 0 },
  );

  function listen(controller: ReadableStreamDefaultController<Uint8Array>): void {
    let pieces: Uint8Array[] = [];
    const pass = () => {
      if (isOpen && pieces.length > 0)
        controller.enqueue(pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces));
      pieces = [];
    };
    const end = (close: () => void) => {
      pass();
      if (isOpen) close();
      isOpen = false;
    };
    const broken = () => end(() => controller.error(new Error("The sender went away")));
    // The sender may have gone before the body was asked for.
    if (message.destroyed) broken();
    message
      .on("data", (piece: Uint8Array) => {
        if (pieces.push(piece) === 1) queueMicrotask(pass);
      })
      .on("end", () => end(() => controller.close()))
      .on("close", broken);
  }
}
