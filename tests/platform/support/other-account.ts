/** Another account of the host, where the tests may give files to it. */
import { chownSync, lchownSync } from "node:fs";
import process from "node:process";

/** An account that is neither root nor the one that runs the tests: nobody. */
export const OTHER_UID = 65534;

/** Whether this process may give files to another account. */
export const isRootHere = process.geteuid?.() === 0;

/** What a test's name says where it cannot give files away. */
export const asRootAlone = isRootHere ? "" : " (not tried: only root can give files to another account)";

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
