import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
} from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import type { Log } from "../../../../platform/log/log.ts";
import { isRefusedRow, openSqlite } from "./open-sqlite.ts";
import { columnsOf, readableClaims, readableRows, readableTable } from "./salvage.ts";
import { ensureSchema, LINE_UP, OUTBOX_COLUMNS, OUTBOX_COLUMNS_2, RANK_ROWS } from "./schema.ts";

/** The mended file before it is renamed; while it exists, the file at `path` is the damaged one. */
export function mendedPath(path: string): string {
  return `${path}.mended`;
}

/**
 * Moves a damaged file aside and puts a new one in its place, with every row that can still be read.
 *
 * Behaviour: returns where the damaged file is now, with its `-wal` and `-shm`. Killed at any point and called again,
 *            it goes on. The caller keeps every other process away.
 * Errors:    those of the file system and of SQLite, such as a full disk.
 */
export function mend(path: string, { nowMs, log }: { nowMs: number; log: Log }): string {
  const mended = mendedPath(path);
  const kept = existsSync(mended) ? null : build(path, `${path}.mending`);
  if (kept !== null) renameSync(`${path}.mending`, mended);
  const aside = freeName(`${path}.damaged-${new Date(nowMs).toISOString().replace(/[-:]|\.\d+/g, "")}`);
  // The file itself last: after a kill the next process finds it, and so what is left to do.
  for (const suffix of ["-wal", "-shm", ""])
    if (existsSync(path + suffix)) renameSync(path + suffix, aside + suffix);
  renameSync(mended, path);
  syncDirectory(dirname(path));
  log.error("The state file was damaged: it was moved aside, and what could be read of it was kept", {
    movedAside: aside,
    ...kept,
  });
  return aside;
}

type Kept = { rowsKept: number; rowsUnreadable: number; claimsKept: number };

/** Builds a sound file from the damaged one, and closes it. */
function build(path: string, target: string): Kept {
  for (const suffix of ["-wal", "-shm", ""]) rmSync(target + suffix, { force: true });
  const fresh = openSqlite(target);
  try {
    ensureSchema(fresh);
    const damaged = openDamaged(path);
    try {
      return carryOver(damaged, fresh);
    } finally {
      damaged?.close();
    }
  } finally {
    fresh.close();
  }
}

function openDamaged(path: string): DatabaseSync | null {
  try {
    padToSize(path);
    return new DatabaseSync(path);
  } catch {
    return null;
  }
}

// SQLite reads nothing of a file that is shorter than its header says.
function padToSize(path: string): void {
  const header = Buffer.alloc(32);
  const file = openSync(path, constants.O_RDWR | constants.O_NOFOLLOW);
  try {
    if (readSync(file, header, 0, header.length, 0) < header.length) return;
    if (header.toString("latin1", 0, 15) !== "SQLite format 3") return;
    const bytes = header.readUInt16BE(16) * header.readUInt32BE(28);
    if (bytes > fstatSync(file).size && bytes <= LARGEST_FILE) ftruncateSync(file, bytes);
  } finally {
    closeSync(file);
  }
}

// More than the limits allow; a header that says more is damaged.
const LARGEST_FILE = 2 ** 36;

function carryOver(damaged: DatabaseSync | null, fresh: DatabaseSync): Kept {
  const isOlder = !isOfVersion3(damaged);
  const columns = isOlder ? OUTBOX_COLUMNS_2 : OUTBOX_COLUMNS;
  const outbox = insertInto(fresh, "outbox", columns);
  const dedup = insertInto(fresh, "dedup", CLAIM_COLUMNS);
  const kept = { rowsKept: 0, rowsUnreadable: 0, claimsKept: 0 };
  if (damaged === null) return kept;
  fresh.exec("begin immediate");
  for (const row of readableRows(damaged, columns)) {
    if (row !== null && isWhole(row) && outbox(row)) kept.rowsKept += 1;
    else kept.rowsUnreadable += 1;
  }
  for (const claim of readableClaims(damaged, CLAIM_COLUMNS)) if (dedup(claim)) kept.claimsKept += 1;
  for (const [table, names] of SIDE_TABLES) {
    const side = insertInto(fresh, table, names);
    for (const row of readableTable(damaged, table, names)) side(row);
  }
  fresh.exec(`${isOlder ? RANK_ROWS : ""} ${MARK_AGAIN} commit`);
  return kept;
}

function isOfVersion3(damaged: DatabaseSync | null): boolean {
  return damaged !== null && columnsOf(damaged, "outbox").includes("is_blocked");
}

// A member of a text whose row is lost waits by itself. A row's number must not be used again while a process may still
// settle the row that had it.
const MARK_AGAIN = `
  update outbox set digest = null where state = 'queued' and digest not in
    (select id from outbox where state = 'queued');
  update outbox set is_blocked = coalesce(
    (select issue.state <> 'delivered' from outbox as issue where issue.id = outbox.issue_row), 0);
  update outbox set is_head = 0, ahead = null;
  ${LINE_UP}
  insert into sqlite_sequence (name, seq) select 'outbox', 0
    where not exists (select 1 from sqlite_sequence where name = 'outbox');
  update sqlite_sequence set seq = seq + 1000000 where name = 'outbox';`;

/** What is kept besides rows and claims, as far as it can be read. */
const SIDE_TABLES: readonly (readonly [string, readonly string[]])[] = [
  ["episodes", ["fingerprint", "starts_at", "is_firing", "issue_row", "claimed_at_ms", "seen_at_ms"]],
  ["attempts", ["kind", "begun_at_ms"]],
  ["holds", ["kind", "code", "since_ms"]],
  ["hours", ["hour", "alerts"]],
];

const CLAIM_COLUMNS = ["key", "token", "claimed_at_ms", "expires_at_ms", "ttl_ms", "value"] as const;

/** Inserts a row that was read; false when the table does not take its values. */
function insertInto(db: DatabaseSync, table: string, columns: readonly string[]) {
  const marks = columns.map(() => "?").join(", ");
  const insert = db.prepare(`insert into ${table} (${columns.join(", ")}) values (${marks})`);
  return (row: Record<string, SQLInputValue>): boolean => {
    try {
      insert.run(...columns.map((column) => row[column] ?? null));
      return true;
    } catch (error) {
      if (isRefusedRow(error)) return false;
      throw error;
    }
  };
}

/** Whether a row that is still to be delivered has its alert. */
function isWhole(row: Record<string, SQLInputValue>): boolean {
  if (row.state === "delivered") return true;
  if (row.state !== "queued" && row.state !== "dead" && row.state !== "in_doubt") return false;
  try {
    const alert: unknown = JSON.parse(String(row.alert));
    return typeof alert === "object" && alert !== null;
  } catch {
    return false;
  }
}

function freeName(name: string): string {
  let free = name;
  for (let at = 2; existsSync(free) || existsSync(`${free}-wal`); at += 1) free = `${name}-${at}`;
  return free;
}

function syncDirectory(path: string): void {
  const directory = openSync(path, "r");
  try {
    fsyncSync(directory);
  } catch {
    // Some file systems cannot sync a directory; the renames are done and visible.
  } finally {
    closeSync(directory);
  }
}
