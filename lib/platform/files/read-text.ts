import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";

const { O_RDONLY, O_NONBLOCK, O_NOCTTY, O_NOFOLLOW } = constants;

/**
 * The last `maxBytes` bytes of a regular file as text, all of it where it has no more, without blocking this process: a
 * disk that hangs costs only this reading.
 *
 * Behaviour: follows no link and waits for no writer of a pipe.
 * Errors:    those of the file system, ELOOP for a link; ENOTFILE for what is no regular file.
 */
export async function readTextEnd(path: string, maxBytes: number): Promise<string> {
  const file = await open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
  try {
    return new TextDecoder().decode(await bytesOf(file, maxBytes));
  } finally {
    await file.close();
  }
}

async function bytesOf(file: FileHandle, maxBytes: number): Promise<Uint8Array> {
  const stats = await file.stat();
  if (!stats.isFile()) throw Object.assign(new Error("it is not a regular file"), { code: "ENOTFILE" });
  const bytes = new Uint8Array(maxBytes);
  const start = Math.max(0, stats.size - maxBytes);
  let length = 0;
  for (let read = -1; read !== 0 && length < maxBytes; length += read)
    ({ bytesRead: read } = await file.read(bytes, length, maxBytes - length, start + length));
  return bytes.subarray(0, length);
}
