import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from "node:fs";

/** How a file is read: `judge` throws what is wrong with the file that was opened. */
export type ReadOptions = { judge: (stats: Stats) => void };

const { O_RDONLY, O_NONBLOCK, O_NOCTTY } = constants;

/**
 * The bytes of the file at `path`, opened once and judged by its descriptor, so that the file that is read is the one
 * that was judged.
 *
 * Behaviour: waits neither for the writer of a named pipe nor for a terminal.
 * Errors:    those of the file system and of `judge`, which must refuse everything but a regular file.
 */
export function readJudged(path: string, { judge }: ReadOptions): Uint8Array {
  const file = openSync(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  try {
    judge(fstatSync(file));
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}
