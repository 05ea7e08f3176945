/** Speaks HTTP byte by byte, for what no client would send. */
import { connect } from "node:net";

/** What came back on a connection; `ended` when the server closed it within the time. */
export type RawAnswer = { status: number; head: string; body: string; text: string; ended: boolean };

/**
 * Sends `pieces`, one after the other, and reads until the server closes or `until` is satisfied; with `half`, our side
 * ends behind them.
 */
export async function speak(
  port: number,
  pieces: Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>,
  until: (text: string) => boolean = () => false,
  host = "127.0.0.1",
  half = false,
): Promise<RawAnswer> {
  const socket = connect({ port, host, allowHalfOpen: half });
  const bytes: Uint8Array[] = [];
  let ended = false;
  let isOver = false;
  const over = new Promise<void>((resolve) => {
    const finish = () => {
      isOver = true;
      resolve();
    };
    socket.on("data", (chunk: Uint8Array) => {
      bytes.push(chunk);
      if (until(Buffer.concat(bytes).toString("latin1"))) finish();
    });
    socket.on("end", () => {
      ended = true;
      finish();
    });
    socket.on("error", finish);
    socket.on("close", finish);
  });
  for await (const piece of pieces) {
    if (isOver) break;
    if (!socket.write(piece))
      await Promise.race([over, new Promise((resolve) => socket.once("drain", resolve))]);
  }
  if (half && !isOver) socket.end();
  await over;
  socket.destroy();
  const text = Buffer.concat(bytes).toString("latin1");
  const [head = "", body = ""] = text.split("\r\n\r\n", 2);
  return { status: Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 0), head, body, text, ended };
}

/** One request as text; the connection is closed behind it unless the headers say otherwise. */
export function request(
  start: string,
  headers: readonly string[] = [],
  body: string | Uint8Array = "",
): Buffer {
  const bytes = typeof body === "string" ? Buffer.from(body) : body;
  const sized = headers.some((header) => /^(content-length|transfer-encoding):/i.test(header));
  const lines = [`${start} HTTP/1.1`, "Host: localhost", ...headers];
  if (!sized && bytes.byteLength > 0) lines.push(`Content-Length: ${bytes.byteLength}`);
  if (!headers.some((header) => /^connection:/i.test(header))) lines.push("Connection: close");
  return Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`), bytes]);
}
