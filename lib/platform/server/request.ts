import { Buffer } from "node:buffer";
import type { IncomingMessage } from "node:http";

/** The largest piece of a body that is joined from smaller ones. */
const MOST_JOINED_BYTES = 65_536;

/** Methods that a `Request` cannot have; no route serves them. */
const NOT_FETCHED = /^(CONNECT|TRACE|TRACK)$/i;

/**
 * The message as a standard `Request`, whose body is read only when it is asked for.
 *
 * Behaviour: the path is exactly the one that was sent: one that a URL parser would tidy (`/a/../b`) is percent-encoded
 *            and matches no route. A header that was sent twice has both values, joined by a comma. A method that a
 *            `Request` cannot have becomes `OPTIONS`. `onBodyWanted` is called before the body is read for the first
 *            time.
 * Errors:    what the runtime throws for a header that it cannot carry.
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

/** Each read takes what has arrived; nothing flows before the first one, and what is not read stays in the message. */
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

/** Passes on the message's pieces and its end, until the returned function is called. */
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
  // Chunks that arrive together go on as one: a pause after each of thousands would cost more than reading them.
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
  // The sender may have gone before the body was asked for.
  if (message.destroyed) onBroken();
  else message.on("data", onData).on("end", onEnd).on("error", onBroken).on("close", onBroken);
  return unlisten;
}
