import { fstatSync, readFileSync, writeSync } from "node:fs";
import { OpsError } from "../../../lib/platform/errors.ts";

const STDOUT = 1;
const STDERR = 2;
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

/** Writes `text` to standard error; a failure to write is ignored. */
export function writeErr(text: string): void {
  try {
    writeWhole(STDERR, text);
  } catch {
    // A log that cannot be written must not stop the work.
  }
}

/** Whether the descriptor is a terminal; `node:tty` is loaded only when it may be one, because loading it is slow. */
export async function isTerminal(fd: number): Promise<boolean> {
  try {
    const stats = fstatSync(fd);
    if (!stats.isCharacterDevice() || stats.rdev >> 8 === MEMORY_DEVICES) return false;
  } catch {
    return false;
  }
  const { isatty } = await import("node:tty");
  return isatty(fd);
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
 * Whether the descriptor was closed when the process began.
 *
 * Behaviour: the runtime then opens /dev/null in its place, where every write succeeds. Bun opens it with the
 *            close-on-exec flag, which a descriptor handed over by another process cannot have.
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
