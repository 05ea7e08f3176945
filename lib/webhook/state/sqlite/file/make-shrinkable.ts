import { statSync } from "node:fs";
import { dirname } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { isBusy } from "../../../../platform/files/sqlite.ts";
import { freeBytes } from "../reserve/free-bytes.ts";
import { isDiskFull } from "./open-sqlite.ts";

/** Vacuumed in about a second; a larger file stays as it is. */
const MOST_BYTES = 64 * 2 ** 20;
/** A vacuum needs a copy in the log, and the file may have one in the end. */
const COPIES = 3;

/**
 * Vacuums a small file of an older version, so that it can give space back in small steps from then on.
 *
 * Behaviour: does nothing for one that can, for a large one, on a disk with little room, or while another process
 *            writes.
 * Errors:    those of SQLite.
 */
export function makeShrinkable(db: DatabaseSync, path: string): void {
  if (Number(db.prepare("pragma auto_vacuum").get()?.auto_vacuum) !== 0) return;
  const { size } = statSync(path);
  if (size > MOST_BYTES || (freeBytes(dirname(path)) ?? 0) < COPIES * size) return;
  try {
    db.exec("pragma auto_vacuum = incremental; vacuum");
  } catch (error) {
    if (!isBusy(error) && !isDiskFull(error)) throw error;
  }
}
