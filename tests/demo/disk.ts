/** The disk that the second act fills up. */
import { spawnSync } from "node:child_process";
import { statfsSync } from "node:fs";
import { join } from "node:path";
import { type SmallDisk, smallDisk } from "../support/small-disk.ts";
import type { Stage } from "./stage.ts";

/** Room for the state's reserve and its log. */
const MEBIBYTES = 160;

/**
 * A disk for the service's state.
 *
 * Shape:     `isReal`: a file system of its own. Without the right to mount one, the service is forbidden to write to
 *            any file instead, which it meets as a disk without a byte left that has no reserve.
 * Behaviour: `fill` and `empty` take the service's process.
 */
export type Disk = { directory: string; isReal: boolean; fill(pid: number): void; empty(pid: number): void };

/** Mounts a small disk until the demo ends, where this user may. */
export function openDisk(stage: Stage): Disk {
  let disk: SmallDisk;
  try {
    disk = smallDisk(MEBIBYTES);
  } catch {
    return forbiddenDisk(join(stage.folder, "host"));
  }
  stage.onClose(async () => disk.remove());
  return { directory: disk.directory, isReal: true, fill: disk.fill, empty: disk.empty };
}

/** How many bytes can still be written there. */
export function bytesFree({ directory }: Disk): number {
  const { bavail, bsize } = statfsSync(directory);
  return bavail * bsize;
}

function forbiddenDisk(directory: string): Disk {
  const limit = (pid: number, bytes: string) => {
    const { status, stderr } = spawnSync("prlimit", ["--pid", `${pid}`, `--fsize=${bytes}:`]);
    if (status !== 0) throw new Error(`prlimit fails: ${stderr}`);
  };
  return {
    directory,
    isReal: false,
    fill: (pid) => limit(pid, "0"),
    empty: (pid) => limit(pid, "unlimited"),
  };
}
