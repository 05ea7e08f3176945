import { closeSync, constants, fstatSync, openSync, writeSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";

const PIECE = new Uint8Array(2 ** 20);

/**
 * Makes the log of an open database at least so long, so that writing to it needs no more of the disk.
 *
 * Behaviour: what is past the end of a log is no part of it: SQLite stops reading at the first frame that does not
 *            belong. No other process writes to the log meanwhile.
 * Errors:    those of the file system and of SQLite.
 */
export function lengthenLog(db: DatabaseSync, path: string, bytes: number): void {
  db.exec("begin immediate");
  try {
    const file = openSync(`${path}-wal`, constants.O_RDWR | constants.O_NOFOLLOW);
    try {
      for (let at = fstatSync(file).size; at < bytes; )
        at += writeSync(file, PIECE, 0, Math.min(PIECE.length, bytes - at), at);
    } finally {
      closeSync(file);
    }
  } finally {
    db.exec("rollback");
  }
}
