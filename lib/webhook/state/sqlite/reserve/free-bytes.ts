import { statfsSync } from "node:fs";

/** How many bytes this account may still write to a directory's disk, without a quota; null when it cannot be read. */
export function freeBytes(directory: string): number | null {
  try {
    const { bavail, bsize } = statfsSync(directory);
    return bavail * bsize;
  } catch {
    return null;
  }
}
