import { existsSync, rmSync, writeFileSync } from "node:fs";
import { isDiskFull } from "../file/open-sqlite.ts";

/** How long the file is. */
export const SPARE_BYTES = 2 ** 20;

/**
 * Takes a small part of the disk, so that a state can be opened on a full one when the file is removed first.
 *
 * Behaviour: leaves no file where it finds no room for one.
 * Errors:    those of the file system but a full disk.
 */
export function keepSpareFile(path: string): void {
  if (existsSync(sparePath(path))) return;
  try {
    writeFileSync(sparePath(path), new Uint8Array(SPARE_BYTES), { mode: 0o600, flag: "wx" });
  } catch (error) {
    rmSync(sparePath(path), { force: true });
    if (!isDiskFull(error)) throw error;
  }
}

/** Removes the file that takes a part of the disk; false when there was none. */
export function removeSpareFile(path: string): boolean {
  if (!existsSync(sparePath(path))) return false;
  rmSync(sparePath(path), { force: true });
  return true;
}

function sparePath(path: string): string {
  return `${path}-spare`;
}
