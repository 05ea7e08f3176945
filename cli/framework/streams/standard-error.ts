import process from "node:process";
import type { TextStream } from "../../../lib/platform/log/progress.ts";
import { type BackgroundWriter, backgroundWriter } from "./background-writer.ts";
import { isTerminal, writeErr } from "./output.ts";

const STDERR = 2;
/** Some thousand lines. */
const MOST_WAITING = 2 ** 20;
const DRAIN_MS = 1_000;

/**
 * Standard error, where the log goes.
 *
 * Behaviour: each text is written before `write` returns, until `neverWait` is called: from then on a reader that
 *            stopped delays nothing. `drained` is for the end of the process.
 */
export type StandardError = TextStream & {
  isTerminal: boolean;
  neverWait(onLost: (texts: number) => void): void;
  drained(): Promise<void>;
};

/** Opens nothing: the descriptor is the process's own. */
export async function standardError(): Promise<StandardError> {
  let background: BackgroundWriter | null = null;
  return {
    write: (text) => (background === null ? writeErr(text) : background.write(text)),
    isTerminal: process.env.TERM !== "dumb" && (await isTerminal(STDERR)),
    get columns() {
      return process.stderr.columns;
    },
    neverWait(onLost) {
      background ??= backgroundWriter(STDERR, { mostChars: MOST_WAITING, onLost });
    },
    drained: async () => await background?.drained(DRAIN_MS),
  };
}
