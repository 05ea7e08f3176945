import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { OpsError } from "../../../../platform/errors.ts";
import { type FileLock, tryFileLock } from "../../../../platform/files/file-lock.ts";
import type { Log } from "../../../../platform/log/log.ts";
import { removeSpareFile } from "../reserve/spare-file.ts";
import { emptyLog, forgetLog, forgetUse, isLogTaken, keepLog, markUse } from "./log-keeper.ts";
import { mend, mendedPath } from "./mend.ts";
import { isDamaged, isDiskFull, isReadOnly, openSqlite } from "./open-sqlite.ts";
import { ensureSchema } from "./schema.ts";

/** How to open the file of the state. */
export type StateFileOptions = {
  directory: string;
  nowMs: () => number;
  log: Log;
  /** Whether every page is checked first; short commands leave that to the service. */
  isChecked: boolean;
  /** How long to wait for the other processes when the file has to be mended. */
  mendWaitMs: number;
};

/** The open file; `movedAside` is where a damaged one was moved to, or null. */
export type StateFile = { db: DatabaseSync; movedAside: string | null; close(): void };

const USERS_WAIT_MS = 5_000;
/** How long to wait before the file is looked at again: a process that has mended it keeps it open. */
const ALONE_WAIT_MS = 50;
const MENDINGS = 2;

/**
 * Opens `state.db` in the directory, and mends it first when it is damaged.
 *
 * Behaviour: every process that has the file open holds `state.lock` shared; the process that mends it holds the lock
 *            alone, so that no process writes to a file that was moved away. Neither file is opened where another
 *            account could have put a file or a link.
 * Errors:    STATE_UNAVAILABLE.
 */
export function openStateFile(options: StateFileOptions): StateFile {
  const { directory } = options;
  try {
    requireDirectory(directory);
    return openOnFullDisk(options);
  } catch (error) {
    if (error instanceof OpsError && error.code !== "FILE_UNTRUSTED") throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw unavailable(directory, reason, error);
  }
}

/** On a full disk even reading needs some room. */
function openOnFullDisk(options: StateFileOptions): StateFile {
  try {
    return openOrMend(options);
  } catch (error) {
    if (!isDiskFull(error) || !removeSpareFile(join(options.directory, "state.db"))) throw error;
    return openOrMend(options);
  }
}

function openOrMend(options: StateFileOptions): StateFile {
  const { directory, log, nowMs, mendWaitMs } = options;
  const path = join(directory, "state.db");
  const deadlineMs = performance.now() + mendWaitMs;
  let movedAside: string | null = null;
  let mendings = 0;
  while (true) {
    const db = openUnderLock(options, path);
    if (db !== null) return { ...db, movedAside };
    if (mendings === MENDINGS) throw unavailable(directory, "it is damaged and could not be mended");
    const alone = tryFileLock(lockPath(directory), { waitMs: Math.min(mendWaitMs, ALONE_WAIT_MS) });
    if (alone === null) {
      if (performance.now() < deadlineMs) continue;
      throw unavailable(directory, "it is damaged, and another process has it open");
    }
    mendings += 1;
    try {
      // Another process may have mended it while this one waited.
      if (!isSoundAt(path)) movedAside = mend(path, { nowMs: nowMs(), log });
      forgetUse(path);
    } finally {
      alone.release();
    }
  }
}

/** The open file with its share of the lock, or null when the file is damaged. */
function openUnderLock(
  { directory, isChecked, log }: StateFileOptions,
  path: string,
): Omit<StateFile, "movedAside"> | null {
  const users = tryFileLock(lockPath(directory), { shared: true, waitMs: USERS_WAIT_MS });
  if (users === null) throw unavailable(directory, "another process is mending it");
  try {
    if (isLogTaken(path))
      log.error("The log of the state file is missing: alerts that were accepted last may be lost", {
        missing: `${path}-wal`,
      });
    const db = existsSync(mendedPath(path)) ? null : openSound(path, isChecked);
    if (db === null) {
      users.release();
      return null;
    }
    markUse(path);
    const keeper = keeperOf(db, path);
    return { db, close: () => closeAll({ db, keeper, users, path, directory }) };
  } catch (error) {
    users.release();
    throw error;
  }
}

function keeperOf(db: DatabaseSync, path: string): DatabaseSync {
  try {
    return keepLog(path);
  } catch (error) {
    db.close();
    throw error;
  }
}

type OpenFile = {
  db: DatabaseSync;
  keeper: DatabaseSync;
  users: FileLock;
  path: string;
  directory: string;
};

function closeAll({ db, keeper, users, path, directory }: OpenFile): void {
  const isEmpty = emptyLog(db);
  try {
    db.close();
    keeper.close();
  } finally {
    users.release();
  }
  if (!isEmpty || !existsSync(lockPath(directory))) return;
  const alone = tryFileLock(lockPath(directory));
  if (alone === null) return;
  try {
    forgetLog(path);
  } finally {
    alone.release();
  }
}

function isSoundAt(path: string): boolean {
  if (existsSync(mendedPath(path))) return false;
  const db = openSound(path, true);
  db?.close();
  return db !== null;
}

/** The file with its tables, or null when it is damaged. */
function openSound(path: string, isChecked: boolean): DatabaseSync | null {
  let db: DatabaseSync | undefined;
  try {
    db = openSqlite(path);
    ensureSchema(db);
    if (!isChecked || Object.values(db.prepare("pragma quick_check(1)").get() ?? {})[0] === "ok") return db;
    db.close();
    return null;
  } catch (error) {
    db?.close();
    if (isDamaged(error)) return null;
    throw error;
  }
}

/** The lock of the process that delivers the outbox. */
export function dispatcherLockPath(directory: string): string {
  return join(directory, "dispatcher.lock");
}

function lockPath(directory: string): string {
  return join(directory, "state.lock");
}

function requireDirectory(directory: string): void {
  const found = statSync(directory, { throwIfNoEntry: false });
  if (found === undefined) throw unavailable(directory, "the directory is missing");
  if (!found.isDirectory()) throw unavailable(directory, "it is not a directory");
}

function unavailable(directory: string, reason: string, cause?: unknown): OpsError {
  return new OpsError({
    code: "STATE_UNAVAILABLE",
    message: `Cannot open the state in ${directory}: ${reason}`,
    hint: hintOf(cause),
    cause,
  });
}

/** To a service of systemd what its unit does not open is read-only, whatever the disk is. */
const OUTSIDE_OF_UNIT =
  "Where the unit opens another directory only: systemctl edit opsctl-webhook.service, below [Service] ReadWritePaths= and this directory, and systemctl restart opsctl-webhook.service. Else its disk is read-only, or state.db belongs to another account";

function hintOf(cause: unknown): string {
  if (cause instanceof OpsError && cause.hint !== undefined) return cause.hint;
  if (isDiskFull(cause)) return "Make room on its disk";
  if (isReadOnly(cause)) return OUTSIDE_OF_UNIT;
  return "The service makes it when systemd starts it; elsewhere OPSCTL_STATE_DIR names a directory that its account may write to. What it needs: opsctl doctor webhook";
}
