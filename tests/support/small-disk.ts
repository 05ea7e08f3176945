import { spawnSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const PIECES = [2 ** 20, 4_096, 1];

/** A real disk of its own, in memory. */
export type SmallDisk = {
  directory: string;
  /** Takes every byte that is left. */
  fill(): void;
  /** Gives back what `fill` took. */
  empty(): void;
  remove(): void;
  /** The same as `remove`. */
  [Symbol.dispose](): void;
};

/** Mounts a small disk, for which a test says `requires("mount")`; throws without the right to. */
export function smallDisk(mebibytes: number): SmallDisk {
  const directory = mkdtempSync(join(tmpdir(), "opsctl-disk-"));
  const options = `size=${mebibytes}m,mode=0700`;
  if (spawnSync("mount", ["-t", "tmpfs", "-o", options, "tmpfs", directory]).status !== 0) {
    rmSync(directory, { recursive: true });
    throw new Error("A small disk cannot be mounted");
  }
  const ballast = join(directory, "ballast");
  const remove = () => {
    spawnSync("umount", ["-l", directory]);
    rmSync(directory, { recursive: true, force: true });
  };
  return {
    directory,
    fill: () => fillWith(ballast),
    empty: () => rmSync(ballast, { force: true }),
    remove,
    [Symbol.dispose]: remove,
  };
}

/** Appends ever smaller pieces until not a byte fits. */
function fillWith(path: string): void {
  const file = openSync(path, "a");
  try {
    for (const length of PIECES) {
      const piece = new Uint8Array(length);
      while (hasWritten(file, piece));
    }
  } finally {
    closeSync(file);
  }
}

function hasWritten(file: number, piece: Uint8Array): boolean {
  try {
    return writeSync(file, piece) === piece.length;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOSPC") return false;
    throw error;
  }
}
