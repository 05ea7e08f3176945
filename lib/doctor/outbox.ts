import { stat } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import type { DoctorWorld, OutboxCounts } from "./world.ts";

/** What a state file holds, or why it is not looked into. */
export type FileReading =
  | { is: "read"; outbox: OutboxCounts }
  | { is: "missing" }
  | { is: "in_use" }
  | { is: "damaged"; message: string };

/**
 * Looks into a state file without leaving anything beside it.
 *
 * Shape:  opened as a file that nobody changes, because opening it any other way makes a `-wal` and a `-shm`. That
 *         leaves out what a write-ahead log still holds: where there is one, the service has the file in use, or was
 *         killed, and `in_use` is the answer.
 * Errors: those of the file system.
 * Source: sqlite.org/uri.html, immutable; tried with node:sqlite of Bun 1.4.5 and Deno 2.9.6.
 */
export async function readStateFile(
  path: string,
  count: DoctorWorld["outbox"]["ofFile"],
): Promise<FileReading> {
  const [file, log] = await Promise.all([sizeOf(path), sizeOf(`${path}-wal`)]);
  if (file === null) return { is: "missing" };
  if (log !== null && log > 0) return { is: "in_use" };
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(`${pathToFileURL(path).href}?immutable=1`, { readOnly: true });
    return { is: "read", outbox: count(db) };
  } catch (error) {
    return { is: "damaged", message: error instanceof Error ? error.message : "unknown error" };
  } finally {
    db?.close();
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
