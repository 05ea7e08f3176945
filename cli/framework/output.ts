import { fstatSync, readFileSync, writeSync } from "node:fs";
import { OpsError } from "../../lib/platform/errors.ts";

const STDOUT = 1;
const STDERR = 2;
/** `O_CLOEXEC` as Linux shows it in fdinfo. */
const CLOSE_ON_EXEC = 0o2000000;
/** The major number of /dev/null and its like on Linux. */
const MEMORY_DEVICES = 1;
const RETRY_MS = 10;

/**
 * Writes `text` to standard output, whole, before it returns.
 *
 * Shape:  a reader that has gone away (`| head`) is not a failure: it has what it wanted.
 * Errors: OUTPUT_FAILED when the text cannot be written: a full disk, or a closed standard output.
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
      hint: "The work itself is done as the log says; only its summary is lost",
    });
  }
}

/** Whether this process was started without a standard output. */
export function isOutputClosed(): boolean {
  return isClosedAtStart(STDOUT);
}

/** Writes `text` to standard error; what cannot be written there has nowhere else to go. */
export function writeErr(text: string): void {
  try {
    writeWhole(STDERR, text);
  } catch {
    // A log that nobody can read must not end the work.
  }
}

/** Whether a terminal is at the descriptor; `node:tty` takes longer to load than a light command runs. */
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
      // A pipe that another process made non-blocking, and that is full: wait for its reader.
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS);
    }
  }
}

/**
 * Whether the descriptor was closed when the process began. The runtime then opens /dev/null in its place, where
 * every write succeeds; Bun's has the close-on-exec flag, which a descriptor that was handed over cannot have.
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
