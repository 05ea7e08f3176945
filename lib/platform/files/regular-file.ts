import { closeSync, constants, fstatSync, openSync, readFileSync, readSync, type Stats } from "node:fs";

const { O_RDONLY, O_NONBLOCK, O_NOCTTY, O_NOFOLLOW } = constants;

/**
 * The bytes of the file at `path`, opened once and judged by its descriptor, so that the file that is read is the one
 * that was judged; `judge` throws what is wrong with it.
 *
 * Behaviour: waits neither for the writer of a named pipe nor for a terminal.
 * Errors:    those of the file system and of `judge`, which must refuse everything but a regular file.
 */
export function readJudged(path: string, judge: (stats: Stats) => void): Uint8Array {
  const file = openSync(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  try {
    judge(fstatSync(file));
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}

/**
 * The bytes of a regular file of at most `maxBytes` at `path`, for a file that any account may have put there.
 *
 * Behaviour: follows no link, waits for nothing, and reads no more than the limit, also of a file that grows meanwhile.
 * Errors:    those of the file system, ELOOP for a link; ENOTFILE for what is no regular file, EFBIG for one too large.
 */
export function readBoundedFile(path: string, { maxBytes }: { maxBytes: number }): Uint8Array {
  const file = openSync(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
  try {
    if (!fstatSync(file).isFile()) throw refusal("ENOTFILE", "it is not a regular file");
    const bytes = new Uint8Array(maxBytes + 1);
    let length = 0;
    for (let read = -1; read !== 0 && length < bytes.length; length += read)
      read = readSync(file, bytes, length, bytes.length - length, null);
    if (length > maxBytes) throw refusal("EFBIG", `it has more than ${maxBytes} bytes`);
    return bytes.subarray(0, length);
  } finally {
    closeSync(file);
  }
}

function refusal(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}
