/** Facts about a process, from /proc: its command line, its children, its listening sockets. */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** The ids of the process and of all its descendants that still run. */
export function processTree(pid: number): number[] {
  return [pid, ...childrenOf(pid).flatMap(processTree)];
}

/** The ids of its children that still run. */
export function childrenOf(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    textOf(`/proc/${pid}/task/${task}/children`).split(" ").filter(Boolean).map(Number),
  );
}

/** The command line, which every account of the machine can read. */
export function commandLineOf(pid: number): string {
  return textOf(`/proc/${pid}/cmdline`).replaceAll("\0", " ");
}

/** How many TCP sockets of the process listen. */
export function listeningSockets(pid: number): number {
  const LISTEN = "0A";
  const inodes = new Set(
    ["tcp", "tcp6"].flatMap((table) =>
      textOf(`/proc/${pid}/net/${table}`)
        .split("\n")
        .map((line) => line.trim().split(/\s+/))
        .filter((columns) => columns[3] === LISTEN)
        .map((columns) => `socket:[${columns[9]}]`),
    ),
  );
  return descriptorsOf(pid).filter((target) => inodes.has(target)).length;
}

function descriptorsOf(pid: number): string[] {
  return readdirSync(`/proc/${pid}/fd`).map((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`);
    } catch {
      // The descriptor was closed after it was listed.
      return "";
    }
  });
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    // The process or task ended meanwhile.
    return "";
  }
}
