/** Another account of the host, where the tests may give files to it. */
import { chownSync, lchownSync } from "node:fs";

/** An account that is neither root nor the one that runs the tests: nobody. */
export const OTHER_UID = 65534;

/** Gives a file, a directory or a link to the other account. */
export function giveAway(...paths: string[]): void {
  for (const path of paths) {
    lchownSync(path, OTHER_UID, OTHER_UID);
  }
}

/** Takes them back. */
export function takeBack(...paths: string[]): void {
  for (const path of paths) chownSync(path, 0, 0);
}
