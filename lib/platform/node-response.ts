import { Buffer } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";

/** How much of an unwanted body is taken in after the answer, so that its sender gets to see the answer. */
const LINGER_BYTES = 1_048_576;
const LINGER_MS = 1_000;

/**
 * Answers `message` with `response`, whose body is text.
 *
 * Shape: the answer goes out whole and at once. When the request's body has not arrived by then, the connection is
 *        closed behind the answer: not in the same instant, for a sender that is still writing would then meet a reset
 *        in place of the answer, but when the rest has come or a second has passed.
 */
export async function sendResponse(
  response: Response,
  message: IncomingMessage,
  answer: ServerResponse,
  isLast: boolean,
): Promise<void> {
  const body = await response.text();
  const headers = Object.fromEntries(response.headers);
  const isUnread = !message.complete;
  answer.writeHead(response.status, {
    ...headers,
    "content-length": String(Buffer.byteLength(body)),
    ...(isLast || isUnread ? { connection: "close" } : {}),
  });
  if (isUnread) {
    answer.write(body);
    await arrived(message);
    answer.end();
  } else {
    answer.end(body);
  }
}

function arrived(message: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    let bytes = 0;
    const finish = () => {
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(finish, LINGER_MS);
    message.on("data", (chunk: Uint8Array) => {
      bytes += chunk.byteLength;
      if (bytes <= LINGER_BYTES) return;
      message.pause();
      // Bun goes on reading a socket that was handed over, and keeps what it reads, when only the message is paused.
      message.socket.pause();
    });
    for (const event of ["end", "close", "error"]) message.once(event, finish);
    message.resume();
  });
}
