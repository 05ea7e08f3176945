import { readSync } from "node:fs";

const STDIN = 0;
const RETRY_MS = 10;

/**
 * All of standard input, at most one byte more than `maxBytes`.
 *
 * Behaviour: waits for the writer, as any program that reads a pipe does; a signal ends it.
 * Errors:    those of the system.
 */
export function pipedBytes(maxBytes: number): Uint8Array {
  const bytes = new Uint8Array(maxBytes + 1);
  let length = 0;
  while (length < bytes.length) {
    const read = readSome(bytes, length);
    if (read === 0) break;
    length += Math.max(read, 0);
  }
  return bytes.subarray(0, length);
}

/** How many bytes were read: 0 at the end, -1 when there is nothing yet. */
function readSome(bytes: Uint8Array, at: number): number {
  try {
    return readSync(STDIN, bytes, at, bytes.length - at, null);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EOF") return 0;
    // Another process made the pipe non-blocking: wait for the writer.
    if (code !== "EAGAIN") throw error;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS);
    return -1;
  }
}
