import { existsSync, rmSync, writeFileSync } from "node:fs";

/** How long the file is. */
export const SPARE_BYTES = 2 ** 20;

/** Takes a small part of the disk, so that a state can be opened on a full one when the file is removed first. */
export function keepSpareFile(path: string): void {
  if (!existsSync(sparePath(path)))
    writeFileSync(sparePath(path), new Uint8Array(SPARE_BYTES), { mode: 0o600, flag: "wx" });
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
