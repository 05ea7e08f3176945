import { constants, openSync } from "node:fs";
import { isTerminal } from "../framework/streams/output.ts";

/** One standard stream of a child: that of this process, none, or a descriptor. */
type Stream = "inherit" | "ignore" | number;

/**
 * Standard input, output and error for a child that runs as another account.
 *
 * Behaviour: a terminal is handed over for writing only, and not as input: otherwise another process of that account
 *            could read what is typed there later. Files and pipes are handed over unchanged.
 */
export async function handedStreams(): Promise<[Stream, Stream, Stream]> {
  const input = (await isTerminal(0)) ? "ignore" : "inherit";
  return [input, await output(1), await output(2)];
}

async function output(fd: 1 | 2): Promise<Stream> {
  if (!(await isTerminal(fd))) return "inherit";
  try {
    return openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NOCTTY);
  } catch {
    // A terminal that cannot be opened again is handed over as it is.
    return "inherit";
  }
}
