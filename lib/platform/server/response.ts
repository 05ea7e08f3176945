import { Buffer } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";

/**
 * Answers `message` with `response`, whose body is text.
 *
 * Behaviour: the answer is sent at once and whole. It is the connection's last one when `isLast` is true, when it is
 *            not a 2xx, and when the request's body has not arrived by then.
 */
export async function sendResponse(
  response: Response,
  message: IncomingMessage,
  answer: ServerResponse,
  isLast: boolean,
): Promise<void> {
  const body = await response.text();
  const headers = Object.fromEntries(response.headers);
  const { socket } = message;
  socket.cork();
  answer.writeHead(response.status, {
    ...headers,
    // RFC 9110, section 8.6: a 204 has none.
    ...(response.status === 204 ? {} : { "content-length": String(Buffer.byteLength(body)) }),
    ...(isLast || !response.ok || !message.complete ? { connection: "close" } : {}),
  });
  answer.end(body);
  socket.uncork();
}
