import type { IncomingMessage } from "node:http";

/** Methods that a `Request` refuses to carry; nobody serves them. */
const NOT_FETCHED = /^(CONNECT|TRACE|TRACK)$/i;

/**
 * The request as web standards have it; nothing of its body is read before somebody asks for it.
 *
 * Shape:  the path is exactly the one that was sent: what a URL parser would tidy (`/a/../b`) arrives percent-encoded
 *         and meets no route. A header that was sent twice has both values, joined by a comma. A method that no
 *         `Request` may have arrives as `OPTIONS`.
 * Errors: what the runtime throws for a header that it cannot carry.
 */
export function webRequest(message: IncomingMessage): Request {
  const method = message.method ?? "GET";
  const init = {
    method: NOT_FETCHED.test(method) ? "OPTIONS" : method,
    headers: headersOf(message),
    duplex: "half",
  };
  const hasBody = method !== "GET" && method !== "HEAD";
  return new Request(urlOf(message.url ?? "/"), hasBody ? { ...init, body: bodyOf(message) } : init);
}

function urlOf(target: string): string {
  const path = target.replace(/^https?:\/\/[^/?#]*/i, "");
  const url = `http://localhost${path}`;
  const isExact = /^\/[^#]*$/.test(path) && URL.canParse(url) && new URL(url).href === url;
  return isExact ? url : `http://localhost/${encodeURIComponent(path.toWellFormed())}`;
}

function headersOf({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers();
  for (let at = 0; at < rawHeaders.length; at += 2)
    headers.append(rawHeaders[at] as string, rawHeaders[at + 1] as string);
  return headers;
}

function bodyOf(message: IncomingMessage): ReadableStream<Uint8Array> {
  const chunks = message.iterator({ destroyOnReturn: false });
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await chunks.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      async cancel() {
        await chunks.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}
