import process from "node:process";
import { isTerminal } from "./streams/output.ts";

const STDERR = 2;

let isKept = false;
let hasCome = false;
let listener: (() => void) | null = null;

/**
 * Keeps SIGHUP from ending this process; one that comes before there is a listener is told to it then.
 *
 * Behaviour: on a terminal nothing changes: there the signal means that the terminal is gone.
 */
export async function keepHangups(): Promise<void> {
  if (isKept || (await isTerminal(STDERR))) return;
  isKept = true;
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
