import { Buffer } from "node:buffer";
import type { IncomingMessage } from "node:http";

/** How much of a body goes on as one piece, at most, when its sender cut it smaller. */
const MOST_JOINED_BYTES = 65_536;

/** Methods that a `Request` refuses to carry; nobody serves them. */
const NOT_FETCHED = /^(CONNECT|TRACE|TRACK)$/i;

/**
 * The request as web standards have it; nothing of its body is read before somebody asks for it.
 *
 * Shape:  the path is exactly the one that was sent: what a URL parser would tidy (`/a/../b`) arrives percent-encoded
 *         and meets no route. A header that was sent twice has both values, joined by a comma. A method that no
 *         `Request` may have arrives as `OPTIONS`. `onBodyWanted` is told before the body is read for the first time.
 * Errors: what the runtime throws for a header that it cannot carry.
 */
export function webRequest(message: IncomingMessage, onBodyWanted: () => void = () => {}): Request {
  const method = message.method ?? "GET";
  const init = {
    method: NOT_FETCHED.test(method) ? "OPTIONS" : method,
    headers: headersOf(message),
    duplex: "half",
  };
  const hasBody = method !== "GET" && method !== "HEAD";
  return new Request(
    urlOf(message.url ?? "/"),
    hasBody ? { ...init, body: bodyOf(message, onBodyWanted) } : init,
  );
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

/** Nothing flows before the first read, and what arrives at once after each; what is not read stays with the message. */
function bodyOf(message: IncomingMessage, onBodyWanted: () => void): ReadableStream<Uint8Array> {
  let unlisten: (() => void) | null = null;
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (unlisten === null) onBodyWanted();
        unlisten ??= forward(message, controller);
        message.resume();
      },
      cancel() {
        unlisten?.();
        message.pause();
      },
    },
    { highWaterMark: 0 },
  );
}

/** Passes the message's pieces and its end on, until the function that this returns is called. */
function forward(
  message: IncomingMessage,
  controller: ReadableStreamDefaultController<Uint8Array>,
): () => void {
  let pieces: Uint8Array[] = [];
  let bytes = 0;
  const pass = () => {
    if (pieces.length === 0) return;
    message.pause();
    controller.enqueue(pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces));
    pieces = [];
    bytes = 0;
  };
  // Chunks that arrive at once go on as one: a pause behind each of thousands would cost more than reading them.
  const onData = (piece: Uint8Array) => {
    if (pieces.push(piece) === 1) queueMicrotask(pass);
    bytes += piece.byteLength;
    if (bytes >= MOST_JOINED_BYTES) message.pause();
  };
  const onEnd = () => {
    pass();
    unlisten();
    controller.close();
  };
  const onBroken = () => {
    unlisten();
    controller.error(new Error("The sender went away"));
  };
  const unlisten = () => {
    pieces = [];
    message.off("data", onData).off("end", onEnd).off("error", onBroken).off("close", onBroken);
  };
  // Its sender may have gone before anybody asked for the body.
  if (message.destroyed) onBroken();
  else message.on("data", onData).on("end", onEnd).on("error", onBroken).on("close", onBroken);
  return unlisten;
}
