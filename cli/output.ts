import { createWriteStream, fstatSync, readFileSync, writeSync } from "node:fs";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { OpsError } from "../lib/platform/errors.ts";
import { jsonText } from "../lib/platform/replace-unseen.ts";
import type { Environment } from "../lib/platform/secrets/adapter.ts";
import { EXIT, statusWord } from "./framework/exit-status.ts";

/** The descriptor of standard output. */
export const STDOUT = 1;
/** The descriptor of standard error. */
export const STDERR = 2;

/** `O_CLOEXEC`, as Linux shows it in /proc/self/fdinfo. */
const CLOSE_ON_EXEC = 0o2000000;
/** The major device number of /dev/null on Linux. */
const MEMORY_DEVICES = 1;
const RETRY_MS = 10;

/**
 * Writes the whole `text` to standard output before it returns.
 *
 * Behaviour: a reader that stopped reading (`| head`) is not a failure.
 * Errors:    OUTPUT_FAILED when the text cannot be written: a full disk, or a closed standard output.
 */
export function writeOut(text: string): void {
  try {
    if (isClosedAtStart(STDOUT)) throw Object.assign(new Error("closed"), { code: "EBADF" });
    writeWhole(STDOUT, text);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EPIPE") return;
    throw new OpsError({
      code: "OUTPUT_FAILED",
      message: `Cannot write the result to standard output: ${code === "EBADF" ? "it is closed" : code}`,
      hint: "What the command does is done; only what it prints is lost",
    });
  }
}

/** What `--json` says of a command; `fields` are its own keys, and without `exitCode` all is well. */
export type Result = {
  exitCode?: number;
  fields: object;
  error?: { code: string; message: string; hint?: string | undefined } | null;
};

/** The line of `--json`: `command`, `status` and `exitCode`, the command's own fields, then `error`. */
export function resultLine(
  command: string,
  { exitCode = EXIT.ok, fields, error = null }: Result,
  clean: (result: object) => unknown = (result) => result,
): string {
  return `${jsonText(clean({ command, status: statusWord(exitCode), exitCode, ...fields, error }))}\n`;
}

/** Writes `text` to standard error; a failure to write is ignored. */
export function writeErr(text: string): void {
  try {
    writeWhole(STDERR, text);
  } catch {} // A log that cannot be written must not stop the work.
}

function writeWhole(fd: number, text: string): void {
  const bytes = new TextEncoder().encode(text);
  for (let offset = 0; offset < bytes.length; ) {
    try {
      offset += writeSync(fd, bytes, offset);
    } catch (error) {
      // The pipe is full and another process made it non-blocking: wait for the reader.
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS);
    }
  }
}

/**
 * Whether the descriptor was closed when the process began: the runtime then opens /dev/null in its place, where every
 * write succeeds. Bun opens it with the close-on-exec flag, which a descriptor of another process cannot have.
 */
function isClosedAtStart(fd: number): boolean {
  try {
    if (!fstatSync(fd).isCharacterDevice()) return false;
    const flags = /^flags:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, "utf8"))?.[1] ?? "0";
    return (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) !== 0;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EBADF";
  }
}

/** Whether the descriptor is a terminal, without the slow loading of `node:tty`: no other device is one in practice. */
export function isTerminal(fd: number): boolean {
  try {
    const stats = fstatSync(fd);
    return stats.isCharacterDevice() && stats.rdev >> 8 !== MEMORY_DEVICES;
  } catch {
    return false;
  }
}

/** How many columns a stream's terminal has, `COLUMNS` first; null for a file or a pipe. */
export function columnsOf(to: "stdout" | "stderr", { COLUMNS = "" }: Environment): number | null {
  if (/^[1-9][0-9]{0,4}$/.test(COLUMNS)) return Number(COLUMNS);
  return isTerminal(to === "stdout" ? STDOUT : STDERR) ? process[to].columns || null : null;
}

/** What `standardError` returns. */
export type StandardError = ReturnType<typeof standardError>;

/** Some thousand lines. */
const MOST_WAITING_BYTES = 2 ** 20;
const DRAIN_MS = 1_000;

/**
 * Standard error, where the log goes; each text is written before `write` returns.
 *
 * Shape: from `neverWait` on a reader that stopped delays nothing: texts wait in memory, and beyond a cap they are lost;
 *        `onLost` gets their number once the reader goes on. `drained` is for the end of the process.
 */
export function standardError() {
  let write = writeErr;
  let drained = async () => {};
  return {
    write: (text: string) => write(text),
    isTerminal: process.env.TERM !== "dumb" && isTerminal(STDERR),
    get columns() {
      return process.stderr.columns;
    },
    neverWait(onLost: (texts: number) => void) {
      let lost = 0;
      const queue = createWriteStream("", { fd: STDERR, autoClose: false });
      queue.on("error", () => {
        write = writeErr;
      });
      const onWritten = () => {
        if (lost > 0) onLost(lost);
        lost = 0;
      };
      write = (text) => {
        if (queue.writableLength > MOST_WAITING_BYTES) lost += 1;
        else queue.write(text, onWritten);
      };
      drained = () => Promise.race([new Promise<void>((done) => queue.end(done)), delay(DRAIN_MS)]);
    },
    drained: () => drained(),
  };
}
