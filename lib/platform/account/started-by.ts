import process from "node:process";
import { textOrEmpty } from "../text-or-empty.ts";

/** The variable with which a process that hands a command line over to a child marks that child as its own. */
export const STARTED_BY = "OPSCTL_STARTED_BY";

/** The name of the person, and the process that hands over: its number, and when it started. */
const MARK = /^([^:]+):(\d+):(\d*)$/;
/** Where the start of a process stands behind the name of its program, which can hold blanks and brackets. */
const START_FIELD = 19;

/** The mark of this process for its children; `name` is that of the person who started the command. */
export function starterMark(name: string, pid: number = process.pid): string {
  return `${name}:${pid}:${startOf(pid) ?? ""}`;
}

/** The name of the person who started the command that was handed over to this process; null where none was. */
export function starterOf({
  [STARTED_BY]: mark,
}: Readonly<Record<string, string | undefined>>): string | null {
  return nameInMark(mark);
}

/**
 * The name in a mark that the parent of this process made; null for any other text.
 *
 * Behaviour: a mark counts for a child of the process that made it, and for no other: a shell that was started below
 *            such a child, or a file of variables, can hand an old one on.
 */
export function nameInMark(mark = ""): string | null {
  const [, name = null, pid, start = ""] = MARK.exec(mark) ?? [];
  if (Number(pid) !== process.ppid) return null;
  const known = startOf(process.ppid);
  // Where the account may not look at other processes (hidepid), their number has to do.
  return start === "" || known === null || start === known ? name : null;
}

/** When a process started, in the kernel's ticks; null where this process may not see it. */
function startOf(pid: number): string | null {
  const text = textOrEmpty(`/proc/${pid}/stat`);
  return text.slice(text.lastIndexOf(")") + 2).split(" ")[START_FIELD] ?? null;
}
