import { stat } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { OpsError } from "../../platform/errors.ts";
import { requireOwnDatabase } from "../../platform/files/sqlite.ts";
import { outboxReads } from "../../webhook/state/sqlite/outbox/reads.ts";
import type { OutboxStats } from "../../webhook/state/state.ts";

/** What a state file holds, or why it is not looked into. */
export type FileReading =
  | { status: "read"; outbox: OutboxStats }
  | { status: "missing" }
  | { status: "in_use" }
  | { status: "untrusted"; message: string; hint: string | null }
  | { status: "damaged"; message: string };

/**
 * Looks into a state file without leaving anything beside it.
 *
 * Shape:  opened as a file that nobody changes, because opening it any other way makes a `-wal` and a `-shm`. That
 *         leaves out what a write-ahead log still holds: where there is one, the service has the file in use, or was
 *         killed, and `in_use` is the answer. SQLite lets nothing else run meanwhile, and a file that was made for it
 *         can keep it busy for ever: call this in a process that can be ended.
 * Errors: those of the file system.
 * Source: sqlite.org/uri.html, immutable; tried with node:sqlite of Bun 1.4.5 and Deno 2.9.6.
 */
export async function readStateFile(path: string, nowMs: () => number): Promise<FileReading> {
  const foreign = foreignness(path);
  if (foreign !== null) return foreign;
  const [file, log] = await Promise.all([sizeOf(path), sizeOf(`${path}-wal`)]);
  if (file === null) return { status: "missing" };
  if (log !== null && log > 0) return { status: "in_use" };
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(`${pathToFileURL(path).href}?immutable=1`, { readOnly: true });
    return { status: "read", outbox: outboxReads(db, nowMs).stats() };
  } catch (error) {
    return { status: "damaged", message: error instanceof Error ? error.message : "unknown error" };
  } finally {
    db?.close();
  }
}

/** Neither opened nor followed where another account could have put something else in its place. */
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

async function sizeOf(path: string): Promise<number | null> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}
