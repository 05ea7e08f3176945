import { statSync } from "node:fs";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { isDiskFull } from "../file/open-sqlite.ts";

/** More than any file has. */
const NO_LIMIT = 4_294_967_294;

/** SQLite's own. */
const MOST_LOG_PAGES = 1_000;

/** Says how far a database file may grow, and brings into it what its log has. */
export type FileGrowth = {
  /** Lets the file grow no more: a write that needs a page more fails as on a full disk. */
  stop(): void;
  allow(): void;
  /** Has SQLite checkpoint by itself whenever the log has so many bytes, and at the latest when it has 1,000 pages. */
  checkpointEach(bytes: number): void;
  /** Writes what is in the log to the file as far as the disk and other readers allow; false when the disk does not. */
  checkpoint(): boolean;
  /** Bytes of the log that are in use: a checkpoint that comes to its end lets it begin anew. */
  usedLogBytes(): number;
  /** Bytes of the database that the file on the disk does not have yet. */
  missingBytes(): number;
  /** Moves the last pages to free ones and ends the file before them, at most so many bytes. */
  shrink(bytes: number): void;
  /** Bytes that the file holds for nothing. */
  freeBytes(): number;
};

/** Errors: those of SQLite; a checkpoint that finds the disk full throws none. */
export function fileGrowth(db: DatabaseSync, path: string): FileGrowth {
  const number = (statement: StatementSync) => Number(Object.values(statement.get() ?? {})[0]);
  const pageCount = db.prepare("pragma page_count");
  const freeCount = db.prepare("pragma freelist_count");
  const checkpoint = db.prepare("pragma wal_checkpoint(passive)");
  // Only looks.
  const lookAtLog = db.prepare("pragma wal_checkpoint(noop)");
  const pageBytes = number(db.prepare("pragma page_size"));
  const limit = (pages: number) => db.exec(`pragma max_page_count = ${pages}`);
  return {
    stop: () => limit(number(pageCount)),
    allow: () => limit(NO_LIMIT),
    checkpointEach(bytes) {
      const pages = Math.min(MOST_LOG_PAGES, Math.max(1, Math.floor(bytes / pageBytes)));
      db.exec(`pragma wal_autocheckpoint = ${pages}`);
    },
    checkpoint() {
      try {
        checkpoint.get();
        return true;
      } catch (error) {
        if (!isDiskFull(error)) throw error;
        return false;
      }
    },
    usedLogBytes: () => Math.max(0, Number(lookAtLog.get()?.log ?? 0)) * pageBytes,
    missingBytes: () => Math.max(0, number(pageCount) * pageBytes - statSync(path).size),
    shrink(bytes) {
      // Read to its end: each row is a page that was moved.
      db.prepare(`pragma incremental_vacuum(${Math.ceil(bytes / pageBytes)})`).all();
    },
    freeBytes: () => number(freeCount) * pageBytes,
  };
}
