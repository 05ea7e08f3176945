import { accessSync, constants, existsSync, linkSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import schema from "../../../../sql/state/schema.sql" with { type: "text" };
import { SQLITE_DEDUP_TABLE } from "../../../dedup/sqlite.ts";
import { OpsError } from "../../../platform/errors.ts";
import { type FileLock, tryFileLock } from "../../../platform/files/file-lock.ts";
import { createPrivately, requireOwnDatabase } from "../../../platform/files/sqlite.ts";
import type { Log } from "../../../platform/log/log.ts";
import { isDamaged, unavailable } from "./errors.ts";
import { salvage } from "./salvage.ts";

/** The version of the tables; any change of `schema.sql` raises it. */
const VERSION = 1;
/** How long a statement waits for another process that writes to the same file. */
const BUSY_MS = 2_000;
/** How long to wait for a process that opens or replaces the file. */
const LOCK_MS = 5_000;

// `check` writes to `room`; `reserve` is given up on a full disk; `dedup` is the socket monitor's.
const TABLES = `
  create table room (id integer primary key, filling blob not null);
  create table reserve (id integer primary key, filling blob not null);
  ${schema.replace(/\{id\}/g, "integer").replace(/\{(\w+)\}/g, "$1")} ${SQLITE_DEDUP_TABLE}
  insert into meta (key, value) values ('version', '${VERSION}');`;

/** `checks`: whether the pages of the file are looked at first. */
type Options = { directory: string; nowMs: () => number; log: Log; checks?: boolean };

/**
 * The open file.
 *
 * Shape: `quarantined` is where a damaged one was moved to. `isInPlace` says whether the file and its log are still at
 *        their paths.
 */
export type StateFile = {
  db: DatabaseSync;
  quarantined: string | null;
  isInPlace(): boolean;
  close(): void;
};

/**
 * Opens `state.db` in the directory, or makes it.
 *
 * Behaviour: a damaged file is moved away, and a new one has what could be read of it. Processes that open the file do so
 *            one after the other. No file is opened where another account could have put a file or a link.
 * Errors:    STATE_UNAVAILABLE.
 */
export function openStateFile(options: Options): StateFile {
  const { directory } = options;
  let lock: FileLock | null = null;
  try {
    if (!existsSync(directory)) throw new Error("the directory is missing");
    lock = tryFileLock(join(directory, "state.lock"), { waitMs: LOCK_MS });
    if (lock === null) throw new Error("another process opens or replaces it");
    return openOrReplace(join(directory, "state.db"), options);
  } catch (error) {
    if (error instanceof OpsError && error.code !== "FILE_UNTRUSTED") throw error;
    throw unavailable(directory, error instanceof Error ? error.message : String(error), error);
  } finally {
    lock?.release();
  }
}

/** A database in memory that has the tables of the state. */
export function openInMemory(nowMs: () => number): StateFile {
  const db = new DatabaseSync(":memory:");
  db.exec(TABLES);
  db.function("now_ms", { deterministic: true }, () => BigInt(nowMs()));
  return { db, quarantined: null, isInPlace: () => true, close: () => db.close() };
}

function openOrReplace(path: string, options: Options): StateFile {
  try {
    if (!isEmpty(path)) return openFile(path, options);
  } catch (error) {
    if (!isDamaged(error)) throw error;
  }
  return openFile(path, { ...options, checks: false }, replace(path, options));
}

function openFile(path: string, options: Options, quarantined: string | null = null): StateFile {
  const db = openDatabase(path, options);
  const inodes = () => `${statusOf(path)?.ino} ${statusOf(`${path}-wal`)?.ino}`;
  const opened = inodes();
  return {
    db,
    quarantined,
    isInPlace: () => inodes() === opened,
    close: () => db.close(),
  };
}

/** Makes the file, in place of a damaged one; returns where that was moved to. */
function replace(path: string, options: Options): string | null {
  const { nowMs, log } = options;
  const isNew = isEmpty(path);
  const replacement = `${path}.new`;
  for (const suffix of ["", ...BESIDE]) rmSync(replacement + suffix, { force: true });
  const db = openDatabase(replacement, options);
  const kept = isNew ? null : salvage(path, db);
  db.close();
  const quarantined = `${path}.damaged-${new Date(nowMs()).toISOString().replace(/[-:.]/g, "")}`;
  for (const suffix of BESIDE) if (existsSync(path + suffix)) renameSync(path + suffix, quarantined + suffix);
  // Last: when the process is killed before, the next one finds it damaged again.
  if (!isNew) linkSync(path, quarantined);
  renameSync(replacement, path);
  if (isNew) return null;
  const problem = "The state file was damaged: it is quarantined, and what could be read of it was kept";
  log.error(problem, { quarantined, ...kept });
  return quarantined;
}

/** What SQLite puts beside the file; with the log of another one a file would be damaged. */
const BESIDE = ["-wal", "-shm"];

const statusOf = (path: string) => statSync(path, { throwIfNoEntry: false });
/** Whether it is to be made: there is none, or no byte in it; a pipe, say, is none of ours. */
const isEmpty = (path: string) => {
  const status = statusOf(path);
  return status === undefined || (status.isFile() && status.size === 0);
};

/** A database that several processes use at once and that keeps every commit. */
function openDatabase(path: string, { nowMs, checks = false }: Options): DatabaseSync {
  requireOwnDatabase(path);
  createPrivately(path);
  // Else SQLite opens a file that it cannot write to, and each write fails.
  accessSync(path, constants.W_OK);
  const isNew = isEmpty(path);
  const db = new DatabaseSync(path, { timeout: BUSY_MS, defensive: false });
  try {
    // Before the first page is written: later only a vacuum changes it.
    if (isNew) db.exec("pragma auto_vacuum = incremental");
    // The disk that temporary files would need may be full.
    db.exec("pragma journal_mode = wal; pragma synchronous = full; pragma temp_store = memory");
    db.exec("pragma journal_size_limit = 67108864");
    if (isNew) db.exec(TABLES);
    checkVersion(db);
    if (checks) checkPages(db);
    db.function("now_ms", { deterministic: true }, () => BigInt(nowMs()));
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

function checkVersion(db: DatabaseSync): void {
  const meta = db.prepare("select name from sqlite_schema where name = 'meta'").get();
  const row = meta && db.prepare("select value from meta where key = 'version'").get();
  if (Number(row?.value) === VERSION) return;
  throw new OpsError({
    code: "STATE_UNAVAILABLE",
    message: `Cannot use the state: its version is ${row?.value ?? "unknown"}, this opsctl knows ${VERSION}`,
    hint: "Install the opsctl that made it, or a newer one; or move state.db away, with its -wal and -shm",
  });
}

function checkPages(db: DatabaseSync): void {
  const found = Object.values(db.prepare("pragma integrity_check(1)").get() ?? {})[0];
  if (found === "ok") return;
  throw Object.assign(new Error(`The file is damaged: ${found}`), { code: "ERR_SQLITE_ERROR", errcode: 11 });
}
