import { accessSync, constants, existsSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import schema from "../../../../sql/state/schema.sql" with { type: "text" };
import { SQLITE_DEDUP_TABLE } from "../../../dedup/sqlite.ts";
import { OpsError } from "../../../platform/errors.ts";
import { tryFileLock } from "../../../platform/files/file-lock.ts";
import { createPrivately, isBusy, requireOwnDatabase } from "../../../platform/files/sqlite.ts";
import type { Log } from "../../../platform/log/log.ts";
import { isDamaged, unavailable } from "./errors.ts";
import { salvage } from "./salvage.ts";

/** The version of the tables; any change of `schema.sql` raises it. */
const VERSION = 1;
/** How long a statement waits for another process that writes to the same file. */
const BUSY_MS = 2_000;
/** How long to wait for a process that replaces a damaged file, or for those that have one open. */
const LOCK_MS = 2_000;

/** The pragma that looks at the pages of a file first; null for none. */
export type Check = "quick_check" | "integrity_check" | null;

type Options = { directory: string; nowMs: () => number; log: Log; check: Check };

/**
 * The open file.
 *
 * Shape: `quarantined` is where a damaged one was moved to. `isInPlace` says whether the file and its log are still at
 *        their paths; if not, it is left instead of closed, with all that its log has in it. `keepsLog`: for a full disk,
 *        on which the next process could not make one.
 */
export type StateFile = {
  db: DatabaseSync;
  quarantined: string | null;
  isInPlace(): boolean;
  leave(): void;
  close(keepsLog?: boolean): void;
};

/**
 * Opens `state.db` in the directory, or makes it.
 *
 * Behaviour: a damaged file is moved away, and a new one has what could be read of it. Every process that has the file
 *            open holds `state.lock` shared, and the one that moves it holds that alone, so that no process writes to a
 *            file that was moved. No file is opened where another account could have put a file or a link.
 * Errors:    STATE_UNAVAILABLE.
 */
export function openStateFile(options: Options): StateFile {
  const { directory } = options;
  const path = join(directory, "state.db");
  try {
    const found = statSync(directory, { throwIfNoEntry: false });
    if (found === undefined) throw new Error("the directory is missing");
    if (!found.isDirectory()) throw new Error("it is not a directory");
    const inode = inodeOf(path);
    try {
      return openShared(path, options.check);
    } catch (error) {
      if (!isDamaged(error)) throw error;
    }
    const quarantined = replaceAlone(path, inode, options);
    return { ...openShared(path, options.check), quarantined };
  } catch (error) {
    if (error instanceof OpsError && error.code !== "FILE_UNTRUSTED") throw error;
    const reason = error instanceof Error ? error.message : String(error);
    const inUse = "it is damaged, and another process has it open";
    throw unavailable(directory, isDamaged(error) ? inUse : reason, error);
  }
}

/** A database in memory that has the tables of the state. */
export function openInMemory(): StateFile {
  const db = new DatabaseSync(":memory:");
  ensureTables(db);
  return { db, quarantined: null, isInPlace: () => true, leave() {}, close: () => db.close() };
}

function inodeOf(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false, bigint: true });
  return `${found?.dev} ${found?.ino}`;
}

/** When SQLite closes a database, it removes the log at its path, which by then may be that of another file. */
const left: DatabaseSync[] = [];

function openShared(path: string, check: Check): StateFile {
  const lock = tryFileLock(lockOf(path), { shared: true, waitMs: LOCK_MS });
  if (lock === null) throw new Error("another process replaces a damaged file");
  try {
    const db = openDatabase(path, check);
    const inodes = () => inodeOf(path) + inodeOf(`${path}-wal`);
    const opened = inodes();
    return {
      db,
      quarantined: null,
      isInPlace: () => inodes() === opened,
      leave() {
        db.prepare("pragma wal_checkpoint(passive)").get();
        left.push(db);
        lock.release();
      },
      close(keepsLog = false) {
        const keeper = keepsLog ? new DatabaseSync(path, { readOnly: true }) : null;
        keeper?.exec("select count(*) from sqlite_schema");
        db.close();
        // The last connection removes the log, unless it may only read.
        keeper?.close();
        lock.release();
      },
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}

const lockOf = (path: string) => join(dirname(path), "state.lock");

/** Moves a damaged file away; null when another process uses it still, or has done that meanwhile. */
function replaceAlone(path: string, inode: string, { nowMs, log }: Options): string | null {
  const lock = tryFileLock(lockOf(path), { waitMs: LOCK_MS });
  try {
    if (lock === null || inodeOf(path) !== inode) return null;
    const replacement = `${path}.salvaged`;
    for (const suffix of SUFFIXES) rmSync(replacement + suffix, { force: true });
    const db = openDatabase(replacement, null);
    const kept = salvage(path, db);
    db.close();
    const quarantined = `${path}.damaged-${new Date(nowMs()).toISOString().replace(/[-:.]/g, "")}`;
    for (const suffix of SUFFIXES)
      if (existsSync(path + suffix)) renameSync(path + suffix, quarantined + suffix);
    renameSync(replacement, path);
    const problem = "The state file was damaged: it is quarantined, and what could be read of it was kept";
    log.error(problem, { quarantined, ...kept });
    return quarantined;
  } finally {
    lock?.release();
  }
}

/** The file itself last: when the process is killed before, the next one finds it damaged again. */
const SUFFIXES = ["-wal", "-shm", ""];

/** A database with the tables of the state that several processes use at once and that keeps every commit. */
function openDatabase(path: string, check: Check): DatabaseSync {
  requireOwnDatabase(path);
  createPrivately(path);
  // Else SQLite opens a file that it cannot write to, and each write fails.
  accessSync(path, constants.W_OK);
  const db = new DatabaseSync(path, { timeout: BUSY_MS });
  try {
    // Before the first page is written: later only a vacuum changes it.
    if (statSync(path).size === 0) db.prepare("pragma auto_vacuum = incremental").all();
    switchToWal(db);
    // The disk that temporary files would need may be full.
    db.exec("pragma synchronous = full; pragma journal_size_limit = 67108864; pragma temp_store = memory");
    ensureTables(db);
    if (check === null || Object.values(db.prepare(`pragma ${check}(1)`).get() ?? {})[0] === "ok") return db;
    throw Object.assign(new Error("The file is damaged"), { code: "ERR_SQLITE_ERROR", errcode: 11 });
  } catch (error) {
    db.close();
    throw error;
  }
}

// When two processes open a new file at once, SQLite does not wait for the other's lock before this switch.
function switchToWal(db: DatabaseSync): void {
  const deadlineMs = performance.now() + BUSY_MS;
  for (;;) {
    try {
      // Prepared: only so Deno says whether a failure is a full disk.
      return void db.prepare("pragma journal_mode = wal").all();
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadlineMs) throw error;
    }
  }
}

// `check` writes to `room`; `reserve` is given up on a full disk; `dedup` is the socket monitor's.
const TABLES = `
  create table room (id integer primary key, filling blob not null);
  create table reserve (id integer primary key, filling blob not null);
  ${schema.replace(/\{id\}/g, "integer").replace(/\{(\w+)\}/g, "$1")} ${SQLITE_DEDUP_TABLE}
  insert into meta (key, value) values ('version', '${VERSION}')`;

/** Makes the tables of the state where there are none; errors: STATE_UNAVAILABLE for those of another version. */
function ensureTables(db: DatabaseSync): void {
  db.prepare("begin immediate").run();
  try {
    if (!hasTables(db)) db.exec(TABLES);
    db.prepare("commit").run();
  } catch (error) {
    if (db.isTransaction) db.exec("rollback");
    throw error;
  }
}

function hasTables(db: DatabaseSync): boolean {
  const found = db.prepare("select name from sqlite_schema where name in ('meta', 'outbox')").all();
  const isNew = found.length === 2;
  const row = isNew ? db.prepare("select value from meta where key = 'version'").get() : undefined;
  if (found.length === 0 || Number(row?.value) === VERSION) return found.length > 0;
  const version = isNew ? `its version is ${row?.value}` : "it is of an opsctl before the first release";
  throw new OpsError({
    code: "STATE_UNAVAILABLE",
    message: `Cannot use the state: ${version}, this opsctl knows ${VERSION}`,
    hint: isNew
      ? "Install the opsctl that made it, or a newer one"
      : "Move state.db away, with its -wal and -shm: the service makes a new one",
  });
}
