import type { IncomingMessage } from "node:http";

/** Methods that a `Request` cannot have; no route serves them. */
const NOT_FETCHED = /^(CONNECT|TRACE|TRACK)$/i;

/**
 * The message as a standard `Request`, or the status that refuses one that is not written as HTTP demands.
 *
 * Behaviour: HTTP/1.0 or 1.1, with one `Host`, which HTTP/1.0 may leave out: neither runtime checks all of this. The
 *            path is exactly the one that was sent: one that a URL parser would tidy (`/a/../b`) is percent-encoded and
 *            matches no route. A header that was sent twice has both values, joined by a comma. A method that a
 *            `Request` cannot have becomes `OPTIONS`. `onBodyWanted` is called before each read of the body.
 * Source:    RFC 9112, sections 2.3 and 3.2, read 2026-11-22; RFC 9110, section 10.1.1.
 */
export function webRequest(
  message: IncomingMessage,
  onBodyWanted: (isFirst: boolean) => void,
): Request | 400 | 417 | 505 {
  const { httpVersion, headersDistinct, method = "GET", url = "/" } = message;
  if (httpVersion !== "1.0" && httpVersion !== "1.1") return 505;
  const { host = [], expect = [] } = headersDistinct;
  if (expect.some((value) => value.toLowerCase() !== "100-continue")) return 417;
  if (host.length > 1 || (host.length === 0 && httpVersion === "1.1")) return 400;
  const hasBody = method !== "GET" && method !== "HEAD";
  const headers = Object.entries(headersDistinct).map(([name, values = []]) => [name, values.join(", ")]);
  try {
    return new Request(urlOf(url), {
      method: NOT_FETCHED.test(method) ? "OPTIONS" : method,
      headers: headers as [string, string][],
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
  return URL.parse(url)?.href === url ? url : `http://localhost/${encodeURIComponent(path.toWellFormed())}`;
}

function bodyOf(message: IncomingMessage, onBodyWanted: (isFirst: boolean) => void): ReadableStream {
  let pieces: AsyncIterator<Uint8Array> | undefined;
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
    onBodyWanted(pieces === undefined);
    // A body that is not read to its end must not end the connection before its answer.
    pieces ??= message.iterator({ destroyOnReturn: false });
    const { value, done } = await pieces.next();
    if (done) controller.close();
    else controller.enqueue(value);
  };
  return new ReadableStream({ pull }, { highWaterMark: 0 });
}
