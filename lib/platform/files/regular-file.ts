import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from "node:fs";

type Judge = (stats: Stats) => void;
type ReadOptions = { maxBytes?: number; judge?: Judge; isTail?: boolean; followLinks?: boolean };

const { O_RDONLY, O_NONBLOCK, O_NOCTTY, O_NOFOLLOW } = constants;

/**
 * The bytes of the regular file at `path`, opened once and judged by its descriptor: the file that is read is the one
 * that was judged.
 *
 * Shape:     `judge` throws what is wrong with the file; with `isTail` the last `maxBytes` of a longer file are returned.
 * Behaviour: waits neither for the writer of a named pipe nor for a terminal, and reads no more than the limit, also of a
 *            file that grows meanwhile.
 * Errors:    those of the file system and of `judge`; ELOOP for a link without `followLinks`, ENOTFILE for what is no
 *            regular file, EFBIG for one too large.
 */
export function readRegularFile(path: string, options: ReadOptions = {}): Uint8Array {
  const { maxBytes = 1_048_576, judge, isTail = false, followLinks = false } = options;
  const file = openSync(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | (followLinks ? 0 : O_NOFOLLOW));
  try {
    const stats = fstatSync(file);
    judge?.(stats);
    if (!stats.isFile()) throw refusal("ENOTFILE", "it is not a regular file");
    const start = isTail ? Math.max(0, stats.size - maxBytes) : 0;
    const bytes = new Uint8Array(isTail ? maxBytes : maxBytes + 1);
    let length = 0;
    for (let read = -1; read !== 0 && length < bytes.length; length += read)
      read = readSync(file, bytes, length, bytes.length - length, start + length);
    if (length > maxBytes) throw refusal("EFBIG", `it has more than ${maxBytes} bytes`);
    return bytes.subarray(0, length);
  } finally {
    closeSync(file);
  }
}

/** The last `maxBytes` of the regular file at `path` as text, all of it where it has no more; follows no link. */
export async function readTextEnd(path: string, maxBytes: number): Promise<string> {
  return new TextDecoder().decode(readRegularFile(path, { maxBytes, isTail: true }));
}

function refusal(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}
