import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  openSync,
  readSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { createPrivately } from "../../../../platform/files/sqlite.ts";

/** What SQLite writes at the start of a log, and reads first. */
const HEADER_BYTES = 32;

/**
 * Opens a database a second time, only to be closed last.
 *
 * Behaviour: the last connection that is closed removes the log, unless it may only read; then the log keeps the space
 *            that it has on the disk.
 * Errors:    those of SQLite.
 */
export function keepLog(path: string): DatabaseSync {
  const keeper = new DatabaseSync(path, { readOnly: true });
  try {
    keeper.prepare("select count(*) from sqlite_schema").get();
    return keeper;
  } catch (error) {
    keeper.close();
    throw error;
  }
}

/** Writes the log to the file; true when the file has all of it. */
export function emptyLog(db: DatabaseSync): boolean {
  try {
    const { busy, log, checkpointed } = { ...db.prepare("pragma wal_checkpoint(passive)").get() };
    return busy === 0 && log === checkpointed;
  } catch {
    return false;
  }
}

/**
 * Makes an emptied log one that has nothing, so that another file that is put in the place of this one is read as it
 * is.
 *
 * Behaviour: the caller keeps every other process away.
 * Errors:    those of the file system.
 */
export function forgetLog(path: string): void {
  forgetUse(path);
  if (!existsSync(`${path}-wal`)) return;
  const file = openSync(`${path}-wal`, constants.O_RDWR | constants.O_NOFOLLOW);
  try {
    const { size } = fstatSync(file);
    if (size > 0) writeSync(file, new Uint8Array(Math.min(HEADER_BYTES, size)), 0);
  } finally {
    closeSync(file);
  }
}

/**
 * Whether the log of a file may have something: a log that was forgotten, or never used, begins with zeros.
 *
 * Errors: those of the file system but ENOENT.
 */
export function hasLog(path: string): boolean {
  if (!existsSync(`${path}-wal`)) return false;
  const header = new Uint8Array(HEADER_BYTES);
  const file = openSync(`${path}-wal`, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    readSync(file, header, 0, HEADER_BYTES, 0);
  } finally {
    closeSync(file);
  }
  return header.some((byte) => byte !== 0);
}

/** Leaves a mark beside a file that is in use: while it is there, the file's log may have what the file has not. */
export function markUse(path: string): void {
  try {
    createPrivately(usePath(path));
  } catch {
    // On a disk without room for it, a log that is taken away is not noticed.
  }
}

/** Removes the mark of a file that was closed with an empty log. */
export function forgetUse(path: string): void {
  rmSync(usePath(path), { force: true });
}

/** Whether the log of a file that was in use, and was never closed, is gone. */
export function isLogTaken(path: string): boolean {
  if (!existsSync(usePath(path)) || existsSync(`${path}-wal`)) return false;
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

function usePath(path: string): string {
  return `${path}-used`;
}
