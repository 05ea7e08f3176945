import process from "node:process";
import { textOrEmpty } from "../../lib/platform/text-or-empty.ts";

/** The bit of SIGCHLD, 17 on x86 and ARM, in the sets of /proc/self/status. */
const SIGCHLD = 1n << 16n;

/**
 * Lets this process see how its children end, also where the one that started it ignores SIGCHLD (`trap '' CHLD`).
 *
 * Behaviour: an ignored signal stays ignored in what a process starts, and then the kernel drops how a child ended: Bun
 *            never sees that end, Deno aborts. A handler that does nothing changes that, also for the children.
 * Source:    wait(2) "Notes", signal(7), execve(2); measured: Bun 1.4.5, Deno 2.9.6.
 */
export function seeChildEnds(): void {
  const ignored = /^SigIgn:\s*([0-9a-f]+)$/m.exec(textOrEmpty("/proc/self/status"))?.[1] ?? "0";
  if ((BigInt(`0x${ignored}`) & SIGCHLD) !== 0n) process.on("SIGCHLD", () => {});
}
