import process from "node:process";
import { OpsError } from "../../lib/platform/errors.ts";
import { isTerminal, STDERR } from "../output.ts";

let hasCome = false;
let listener = () => {
  hasCome = true;
};

/** Keeps SIGHUP from ending this process, but on a terminal: there it means that the terminal is gone. */
export function ignoreHangups(): void {
  if (!isTerminal(STDERR)) process.on("SIGHUP", () => listener());
}

/** Calls `next` at each SIGHUP from now on, and at once when one has come. */
export function onHangup(next: () => void): void {
  listener = next;
  if (hasCome) next();
}

/**
 * Returns a signal that SIGINT or SIGTERM aborts.
 *
 * Behaviour: a second SIGINT, or a second SIGTERM to a command, ends the process at once. A service ignores further
 *            SIGTERMs: it is stopping already, and answers the requests in flight.
 */
export function interrupted({ isService }: { isService: boolean }): AbortSignal {
  const controller = new AbortController();
  const abort = () => controller.abort();
  process.once("SIGINT", abort);
  if (isService) process.on("SIGTERM", abort);
  else process.once("SIGTERM", abort);
  return controller.signal;
}

/**
 * The result of `work`; when `interrupt` is aborted first, throws `interruption` at once.
 *
 * Behaviour: the work goes on and its result is ignored, so this is for what a command does before it has written
 *            anything.
 */
export async function raceAbort<T>(
  interrupt: AbortSignal,
  interruption: { code: string; message: string; hint?: string },
  work: Promise<T>,
): Promise<T> {
  const aborted = new Promise<never>((_resolve, reject) => {
    const stop = () => reject(new OpsError(interruption));
    if (interrupt.aborted) stop();
    else interrupt.addEventListener("abort", stop);
  });
  return await Promise.race([aborted, work]);
}
