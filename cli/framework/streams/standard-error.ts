import { write } from "node:fs";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import type { TextStream } from "../../../lib/platform/log/progress.ts";
import { isTerminal, writeErr } from "./output.ts";

const STDERR = 2;
/** Some thousand lines. */
const MOST_WAITING_CHARS = 2 ** 20;
const DRAIN_MS = 1_000;
const RETRY_MS = 10;

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
  let queue: LogQueue | null = null;
  return {
    write: (text) => (queue === null ? writeErr(text) : queue.write(text)),
    isTerminal: process.env.TERM !== "dumb" && (await isTerminal(STDERR)),
    get columns() {
      return process.stderr.columns;
    },
    neverWait(onLost) {
      queue ??= new LogQueue(onLost);
    },
    drained: async () => await queue?.drained(),
  };
}

/**
 * Texts for standard error, written in their order while the work goes on.
 *
 * Behaviour: what a reader that stopped does not read waits in memory; beyond the cap texts are lost. How many is
 *            reported to `onLost` once the reader goes on. A failure to write is ignored.
 */
class LogQueue {
  readonly #onLost: (texts: number) => void;
  #waiting = "";
  #lost = 0;
  #writing: Promise<void> | null = null;

  constructor(onLost: (texts: number) => void) {
    this.#onLost = onLost;
  }

  write(text: string): void {
    if (this.#waiting.length + text.length > MOST_WAITING_CHARS) this.#lost += 1;
    else this.#waiting += text;
    this.#writing ??= this.#writeAll();
  }

  async drained(): Promise<void> {
    if (this.#writing !== null) await Promise.race([this.#writing, delay(DRAIN_MS)]);
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting !== "") {
      let bytes = new TextEncoder().encode(this.#waiting);
      this.#waiting = "";
      while (bytes.length > 0) bytes = bytes.subarray(await writeSome(bytes));
      const lost = this.#lost;
      this.#lost = 0;
      if (lost > 0) this.#onLost(lost);
    }
    this.#writing = null;
  }
}

/** How many bytes are done with: all of them after a failure, none where another process made the pipe non-blocking. */
async function writeSome(bytes: Uint8Array): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  write(STDERR, bytes, 0, bytes.length, null, (error, written) => {
    if (error === null) resolve(written);
    else resolve(error.code === "EAGAIN" ? delay(RETRY_MS, 0) : bytes.length);
  });
  return await promise;
}
