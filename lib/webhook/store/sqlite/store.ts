import { join } from "node:path";
import type { StatementSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import { type SqliteDedup, sqliteDedup } from "../../../dedup/sqlite.ts";
import { OpsError } from "../../../platform/errors.ts";
import { type FileLock, tryFileLock } from "../../../platform/files/file-lock.ts";
import type { Log } from "../../../platform/log/log.ts";
import type { Sql, SqlRow, SqlValue, Store } from "../sql.ts";
import { isDamaged, isDiskFull, isFailed } from "./errors.ts";
import { openInMemory, openStateFile, type StateFile } from "./file.ts";
import { type Reserve, type ReserveSize, reserveOf } from "./reserve.ts";

/** More than a full page of every table: what a small batch of alerts needs. */
const ROOM_BYTES = 32_768;
/** The pause after a step of the upkeep. */
const PAUSE_MS = 20;

/**
 * Where the state is, its clock, and what is kept for a full disk: nothing by default.
 *
 * Shape: `mayBeUnavailable`, for the service: a disk that is full or fails at the start is tried again by later calls, and
 *        the pages of the file are checked first; a command that did so might replace a file that the service uses.
 */
export type SqliteStoreOptions = {
  directory: string;
  nowMs: () => number;
  log: Log;
  reserve?: ReserveSize;
  mayBeUnavailable?: boolean;
};

/**
 * The store in `state.db` of a directory, for several processes at once.
 *
 * Behaviour: what is written in one turn of the event loop shares one commit. A file that is found damaged is opened again
 *            by the next call, and one that was removed or replaced after the next `lead`.
 * Errors:    STATE_UNAVAILABLE when it cannot be opened.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const store = new SqliteStore(options, () =>
    openStateFile({ ...options, checks: options.mayBeUnavailable === true }),
  );
  try {
    store.current();
  } catch (error) {
    const cause = error instanceof OpsError ? error.cause : error;
    if (!options.mayBeUnavailable || !(isDiskFull(cause) || isFailed(cause))) throw error;
    options.log.error(UNOPENED, { cause: error });
  }
  return store;
}

/** A store in memory, for this process alone. */
export function openMemoryStore(nowMs: () => number): Store {
  return new SqliteStore({}, () => openInMemory(nowMs));
}

/**
 * The dedup of the same file, on a connection of its own.
 *
 * Errors: STATE_UNAVAILABLE when it cannot be opened.
 */
export async function openSqliteDedup(
  options: Pick<SqliteStoreOptions, "directory" | "nowMs" | "log">,
): Promise<{ dedup: SqliteDedup; close(): void }> {
  const { db, close } = openStateFile(options);
  return { dedup: sqliteDedup(db, options.nowMs), close };
}

type Opened = StateFile & { prepared: Map<string, StatementSync>; reserve: Reserve | null };

type Job = {
  work: (sql: Sql) => Promise<unknown>;
  resolve: (result: never) => void;
  reject: (error: unknown) => void;
};

/** A store on one connection, opened when it is first used, and again after it was found damaged or elsewhere. */
class SqliteStore implements Store {
  readonly leads = "true";
  quarantined: string | null = null;
  readonly #options: Partial<SqliteStoreOptions>;
  readonly #open: () => StateFile;
  #opened: Opened | null = null;
  #isClosed = false;
  #lock: FileLock | null = null;
  #queue: Job[] = [];

  constructor(options: Partial<SqliteStoreOptions>, open: () => StateFile) {
    this.#options = options;
    this.#open = open;
  }

  async read<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    try {
      return await work(sqlOn(() => this.current()));
    } catch (error) {
      if (isDamaged(error)) this.#reopen(DAMAGED);
      throw error;
    }
  }

  write<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ work, resolve, reject });
      if (this.#queue.length === 1) setImmediate(() => this.#commit(this.#queue.splice(0)));
    });
  }

  async lead(): Promise<boolean> {
    const { directory } = this.#options;
    if (directory === undefined) return true;
    if (this.#opened?.isInPlace() === false) this.#reopen(REMOVED);
    this.#lock ??= tryFileLock(join(directory, "dispatcher.lock"));
    return this.#lock !== null;
  }

  async check(): Promise<void> {
    await this.write(async (sql) => {
      await sql.run("insert into room (filling) values (zeroblob($1))", [ROOM_BYTES]);
      await sql.run("delete from room where id < (select max(id) from room)");
    });
  }

  async reserveBytes(): Promise<number | null> {
    return this.#opened?.reserve?.bytes() ?? null;
  }

  async afterPrune(): Promise<void> {
    const opened = this.current();
    while (this.#opened === opened && opened.reserve?.upkeep()) await delay(PAUSE_MS);
  }

  async close(): Promise<void> {
    do await delay(1);
    while (this.#queue.length > 0);
    this.#opened?.close();
    this.#lock?.release();
    this.#opened = this.#lock = null;
    this.#isClosed = true;
  }

  /** The file that is open, or opened now. */
  current(): Opened {
    if (this.#opened !== null) return this.#opened;
    if (this.#isClosed) throw new OpsError({ code: "STATE_UNAVAILABLE", message: "The state is closed" });
    const { log, directory = "", reserve: size } = this.#options;
    const file = this.#open();
    this.quarantined = file.quarantined ?? this.quarantined;
    const reserve = size && log ? reserveOf(file.db, { directory, size, log }) : null;
    this.#opened = { ...file, prepared: new Map(), reserve };
    return this.#opened;
  }

  #reopen(why: string): void {
    this.#options.log?.error(why);
    this.#opened?.close();
    this.#opened = null;
  }

  /** One transaction for all; when one of them throws an error of its own, one for each. */
  async #commit(jobs: readonly Job[]): Promise<void> {
    try {
      const results = await this.#transaction(jobs);
      for (const [at, { resolve }] of jobs.entries()) resolve(results[at] as never);
    } catch (error) {
      const isOwn = (error as { code?: unknown } | null)?.code !== "ERR_SQLITE_ERROR";
      // Each in a turn of its own: what waits for one of them must not run within the next.
      if (jobs.length > 1 && isOwn) for (const job of jobs) setImmediate(() => this.#commit([job]));
      else for (const { reject } of jobs) reject(error);
    }
  }

  /** Runs again on a full disk for as long as room can be made. */
  async #transaction(jobs: readonly Job[]): Promise<unknown[]> {
    for (let attempt = 0; ; attempt += 1) {
      const opened = this.current();
      try {
        return await runTogether(opened, jobs);
      } catch (error) {
        if (isDamaged(error)) this.#reopen(DAMAGED);
        if (!isDiskFull(error) || opened.reserve?.release(attempt) !== true) throw error;
      }
    }
  }
}

const UNOPENED = "The state cannot be opened at the start: alerts are sent from memory until it can be";
const DAMAGED = "The state file is damaged: it is replaced before it is used again";
const REMOVED = "The state file or its log was removed or replaced while it was in use: it is opened again";

/** One transaction, in which only microtasks run between its begin and its commit. */
async function runTogether(opened: Opened, jobs: readonly Job[]): Promise<unknown[]> {
  const { db } = opened;
  let isOver = false;
  const sql = sqlOn(() => {
    // A full disk makes SQLite roll back; what a job has called together with what failed comes after that.
    if (isOver || !db.isTransaction) throw new Error("The transaction is over");
    return opened;
  });
  prepare(opened, "begin immediate").run();
  try {
    const results: unknown[] = [];
    for (const { work } of jobs) results.push(await work(sql));
    await sql.run("commit");
    return results;
  } finally {
    isOver = true;
    if (db.isTransaction) db.exec("rollback");
  }
}

/** `Sql` on what `open` returns at each call. */
function sqlOn(open: () => Opened): Sql {
  return {
    async all(text, values = []) {
      return prepare(open(), text).all(...bound(values)) as SqlRow[];
    },
    async run(text, values = []) {
      return Number(prepare(open(), text).run(...bound(values)).changes);
    },
    async insert(table, columns, rows, onConflict = "") {
      const marks = columns.map((_, at) => `$${at + 1}`);
      const text = `insert into {${table}} as old (${columns}) values (${marks}) ${onConflict}`;
      const statement = prepare(open(), text);
      for (const row of rows) statement.run(...bound(row));
    },
  };
}

/** A number would be bound as a fraction, which as a text has a point. */
const bound = (values: readonly SqlValue[]) =>
  values.map((value) => (Number.isInteger(value) ? BigInt(value as number) : value));

/** A text of the store's statements as SQLite takes it: see `Sql`. */
function prepare({ db, prepared }: Opened, text: string): StatementSync {
  const known = prepared.get(text);
  if (known !== undefined) return known;
  const plain = text.replaceAll("{now}", "now_ms()").replace(/\{(\w+)\}/g, "$1");
  const statement = db.prepare(plain.replace(/\$(\d+)/g, "?$1"));
  prepared.set(text, statement);
  return statement;
}
