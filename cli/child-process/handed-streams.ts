import { constants, openSync } from "node:fs";
import { isTerminal } from "../framework/output.ts";

/** One standard stream of a child: this process's own, nothing, or a descriptor. */
type Stream = "inherit" | "ignore" | number;

/**
 * Standard input, output and error for a child that is another account.
 *
 * Behaviour: of a terminal it gets a descriptor that only writes, and no input: with one that also reads, another
 *            process of that account would see what is typed there later. Files and pipes are handed over as they are.
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
    // A terminal that cannot be opened once more can be written to as it is.
    return "inherit";
  }
}
