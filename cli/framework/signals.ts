import process from "node:process";
import { OpsError } from "../../lib/platform/errors.ts";
import { isTerminal } from "./streams/output.ts";

const STDERR = 2;

let ignoresHangups = false;
let hasCome = false;
let listener: (() => void) | null = null;

/**
 * Keeps SIGHUP from ending this process; one that comes before there is a listener is passed on to it.
 *
 * Behaviour: on a terminal nothing changes: there the signal means that the terminal is gone.
 */
export async function ignoreHangups(): Promise<void> {
  if (ignoresHangups || (await isTerminal(STDERR))) return;
  ignoresHangups = true;
  process.on("SIGHUP", () => {
    if (listener === null) hasCome = true;
    else listener();
  });
}

/** Calls `next` at each SIGHUP from now on, and at once when one has come. */
export function onHangup(next: () => void): void {
  listener = next;
  if (!hasCome) return;
  hasCome = false;
  next();
}

/** A signal that SIGINT or SIGTERM aborts, the first one of each; a second one ends the process. */
export function interrupted(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => controller.abort());
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
  const aborted = Promise.withResolvers<never>();
  const stop = () => aborted.reject(new OpsError(interruption));
  if (interrupt.aborted) stop();
  else interrupt.addEventListener("abort", stop);
  try {
    return await Promise.race([aborted.promise, work]);
  } finally {
    interrupt.removeEventListener("abort", stop);
  }
}
