import process from "node:process";

/** Kills a child that leads a process group of its own, and what it started; `pid` is undefined if it never ran. */
export function killGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch {
    // The whole group has ended.
  }
}
