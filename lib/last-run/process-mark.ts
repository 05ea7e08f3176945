import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import process from "node:process";
import type { LastRun } from "./last-run.ts";

/** Which process of which host; `startTicks` is when the kernel started it: another with its number has other ticks. */
export type ProcessMark = LastRun["process"];

/** The mark of this process. */
export function ownProcessMark(): ProcessMark {
  return { host: hostname(), pid: process.pid, startTicks: startTicksOf(process.pid) };
}

/**
 * Whether the process of a mark has ended; false where that cannot be seen from here, such as on another host.
 *
 * Behaviour: for a run that left `running` behind: it goes on, or it was killed.
 */
export function hasEnded(mark: ProcessMark): boolean {
  if (mark.host !== hostname() || mark.startTicks === null) return false;
  // Where this very process cannot be seen, no other can.
  return startTicksOf(process.pid) !== null && startTicksOf(mark.pid) !== mark.startTicks;
}

/** Whether two marks are of one process. */
export function isSameProcess(one: ProcessMark, other: ProcessMark): boolean {
  return one.host === other.host && one.pid === other.pid && one.startTicks === other.startTicks;
}

/** Whether a mark is of another process of this host that is seen to go on. */
export function isOtherRunning(mark: ProcessMark, own: ProcessMark): boolean {
  return !isSameProcess(mark, own) && mark.host === own.host && mark.startTicks !== null && !hasEnded(mark);
}

/** Field 22 of the kernel's line about a process; its name, which may hold blanks, ends with the last bracket. */
function startTicksOf(pid: number): number | null {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, "latin1");
    const ticks = Number(line.slice(line.lastIndexOf(")") + 2).split(" ")[19]);
    return Number.isFinite(ticks) ? ticks : null;
  } catch {
    return null;
  }
}
