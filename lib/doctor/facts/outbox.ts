import { statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { OpsError } from "../../platform/errors.ts";
import { requireOwnDatabase } from "../../platform/files/sqlite.ts";
import type { OutboxStats } from "../../webhook/state/contract.ts";
import { hasLog } from "../../webhook/state/sqlite/file/log-keeper.ts";
import { outboxStats } from "../../webhook/state/sqlite/outbox/reads/stats.ts";

/** What a state file holds, or why it was not read. */
export type FileReading =
  | { status: "read"; outbox: OutboxStats }
  | { status: "missing" }
  | { status: "empty" }
  | { status: "in_use" }
  | { status: "untrusted"; message: string; hint: string | null }
  | { status: "damaged"; message: string };

/**
 * Reads a state file and creates no other file beside it.
 *
 * Behaviour: opens the file as immutable, because any other way creates a `-wal` and a `-shm`. This misses what a
 *            write-ahead log still holds, so the result is `in_use` where a log may hold something: the service has the
 *            file open, or was killed. SQLite blocks this process while it reads.
 * Errors:    those of the file system.
 * Source:    sqlite.org/uri.html, immutable; tried with node:sqlite of Bun 1.4.5 and Deno 2.9.6.
 */
export function readStateFile(path: string, nowMs: () => number): FileReading {
  const foreign = foreignness(path);
  if (foreign !== null) return foreign;
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return { status: "missing" };
  if (hasLog(path)) return { status: "in_use" };
  // What a start on a full disk leaves.
  if (stats.size === 0) return { status: "empty" };
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(`${pathToFileURL(path).href}?immutable=1`, { readOnly: true });
    // A view can keep SQLite busy for ever, and with it this process; opsctl makes none.
    if (db.prepare("select 1 from sqlite_schema where type = 'view'").get() !== undefined)
      return { status: "damaged", message: "it has a view, which opsctl does not make" };
    return { status: "read", outbox: outboxStats(db, nowMs)() };
  } catch (error) {
    return { status: "damaged", message: error instanceof Error ? error.message : "unknown error" };
  } finally {
    db?.close();
  }
}

/** Why the file must not be opened: missing, or another account could have put something else there. */
function foreignness(path: string): FileReading | null {
  try {
    requireOwnDatabase(path);
    return null;
  } catch (error) {
    if (error instanceof OpsError)
      return { status: "untrusted", message: error.message, hint: error.hint ?? null };
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return { status: "missing" };
    throw error;
  }
}
