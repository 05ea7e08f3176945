import process from "node:process";
import { hasBit, processStatus, statusSet } from "../../lib/platform/process-status.ts";

/** The kernel's number of SIGCHLD on x86 and ARM; its sets begin with signal 1. */
const SIGCHLD = 17;

/**
 * Lets this process see how its children end, also where the one that started it ignores SIGCHLD (`trap '' CHLD`, some
 * supervisors).
 *
 * Behaviour: an ignored signal stays ignored in what a process starts, and then the kernel drops how a child ended: Bun
 *            never sees that end, Deno breaks off. A handler that does nothing changes that, also for the children.
 * Source:    wait(2) "Notes", signal(7), execve(2); measured: Bun 1.4.5, Deno 2.9.6.
 */
export function seeChildEnds(status: string = processStatus()): void {
  if (hasBit(statusSet(status, "SigIgn"), SIGCHLD - 1)) process.on("SIGCHLD", () => {});
}
