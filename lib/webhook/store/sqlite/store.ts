import { join } from "node:path";
import type { StatementSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import { type SqliteDedup, sqliteDedup } from "../../../dedup/sqlite.ts";
import { OpsError } from "../../../platform/errors.ts";
import { type FileLock, tryFileLock } from "../../../platform/files/file-lock.ts";
import type { Log } from "../../../platform/log/log.ts";
import type { Sql, SqlRow, SqlValue, Store } from "../sql.ts";
import { isDamaged, isDiskFull, isFailed, isRefusedRow } from "./errors.ts";
import { type Check, openInMemory, openStateFile, type StateFile } from "./file.ts";
import { type Reserve, type ReserveSize, reserveOf } from "./reserve.ts";

const OPEN_AGAIN_MS = 5_000;
const LOOK_MS = 60_000;
/** More than a full page of every table: what a small batch of alerts needs. */
const ROOM_BYTES = 32_768;
/** The shortest pause after a step of the upkeep; after a longer one, twice as long as it took. */
const PAUSE_MS = 20;

/**
 * Where the state is, its clock, and what is kept for a full disk: nothing, unless told so.
 *
 * Shape: `mayBeUnavailable`: a disk that is full or fails at the start is tried again by later calls.
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
 * Behaviour: what is written in one turn of the event loop shares one commit. A file that is found damaged, removed or
 *            replaced is opened again by the next call.
 * Errors:    STATE_UNAVAILABLE when it cannot be opened.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const store = new SqliteStore(options, (check) => openStateFile({ ...options, check }));
  store.openAtStart();
  return store;
}

/** A store in memory, for this process alone. */
export function openMemoryStore(nowMs: () => number): Store {
  return new SqliteStore({ nowMs }, openInMemory);
}

/**
 * The dedup of the same file, on a connection of its own.
 *
 * Errors: STATE_UNAVAILABLE when it cannot be opened.
 */
export async function openSqliteDedup(
  options: Pick<SqliteStoreOptions, "directory" | "nowMs" | "log">,
): Promise<{ dedup: SqliteDedup; close(): void }> {
  const { db, close } = openStateFile({ ...options, check: null });
  return { dedup: sqliteDedup(db, options.nowMs), close };
}

type Opened = StateFile & { statements: Map<string, StatementSync>; reserve: Reserve | null };

type StoreOptions = Pick<SqliteStoreOptions, "nowMs"> & Partial<SqliteStoreOptions>;

type Job = {
  work: (sql: Sql) => Promise<unknown>;
  resolve: (result: never) => void;
  reject: (error: unknown) => void;
};

/** A store on one connection, opened when it is first used, and again after it was found damaged or elsewhere. */
class SqliteStore implements Store {
  readonly holder = null;
  readonly isRowRefused = isRefusedRow;
  quarantined: string | null = null;
  readonly #options: StoreOptions;
  readonly #open: (check: Check) => StateFile;
  #opened: Opened | null = null;
  #check: Check = "quick_check";
  /** When it was last opened; no number once the store is closed. */
  #triedAtMs = Number.NEGATIVE_INFINITY;
  #lookedAtMs = 0;
  #lock: FileLock | null = null;
  #queue: Job[] = [];
  /** The transactions that run now: what is read meanwhile waits, so that it sees no row that is not committed. */
  #running: Promise<void> | null = null;

  constructor(options: StoreOptions, open: (check: Check) => StateFile) {
    this.#options = options;
    this.#open = open;
  }

  openAtStart(): void {
    try {
      this.#current();
    } catch (error) {
      const cause = error instanceof OpsError ? error.cause : error;
      if (!this.#options.mayBeUnavailable || !(isDiskFull(cause) || isFailed(cause))) throw error;
      const hint = "Alerts are sent from memory until it can be: make room on its disk, or repair it";
      this.#options.log?.error("The state cannot be opened at the start", { cause: error, hint });
    }
  }

  async read<T>(_attempt: string, work: (sql: Sql) => Promise<T>): Promise<T> {
    const turn = async () => {
      while (this.#running !== null) await this.#running;
    };
    try {
      return await work(sqlOn(turn, () => this.#current(), this.#options.nowMs));
    } catch (error) {
      this.#failed(error);
      throw error;
    }
  }

  write<T>(_attempt: string, work: (sql: Sql) => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ work, resolve, reject });
      if (this.#queue.length === 1 && this.#running === null) setImmediate(() => this.#commitQueue());
    });
  }

  async lead(): Promise<boolean> {
    const { directory } = this.#options;
    if (directory === undefined) return true;
    this.#lock ??= tryFileLock(join(directory, "dispatcher.lock"));
    return this.#lock !== null;
  }

  async check(): Promise<void> {
    await this.write("check the state", async (sql) => {
      await sql.run("insert into room (filling) values (zeroblob($1))", [ROOM_BYTES]);
      await sql.run("delete from room where id < (select max(id) from room)");
    });
  }

  async reserveBytes(): Promise<number | null> {
    if (this.#options.directory === undefined) return null;
    const bytes = "select coalesce(sum(length(filling)), 0) as bytes from reserve";
    return Number((await this.read("read the reserve", (sql) => sql.all(bytes)))[0]?.bytes);
  }

  async afterPrune(): Promise<void> {
    const opened = this.#current();
    const steps = opened.reserve?.upkeep();
    for (let isDone = steps === undefined, pauseMs = 0; !isDone; await delay(pauseMs)) {
      while (this.#running !== null) await this.#running;
      const startedMs = performance.now();
      isDone = this.#opened !== opened || steps?.next().done === true;
      pauseMs = Math.max(PAUSE_MS, 2 * (performance.now() - startedMs));
    }
  }

  async close(): Promise<void> {
    while (this.#queue.length > 0 || this.#running !== null) await delay(1);
    this.#opened?.close(this.#opened.reserve?.isDiskShort());
    this.#lock?.release();
    this.#opened = this.#lock = null;
    this.#triedAtMs = Number.NaN;
  }

  #current(): Opened {
    const { nowMs, log, directory = "", reserve } = this.#options;
    const now = nowMs();
    if (this.#opened !== null && Math.abs(now - this.#lookedAtMs) >= LOOK_MS) {
      this.#lookedAtMs = now;
      if (!this.#opened.isInPlace()) {
        log?.error(REMOVED);
        this.#opened.leave();
        this.#openSoon();
      }
    }
    if (this.#opened !== null) return this.#opened;
    if (!(Math.abs(now - this.#triedAtMs) >= OPEN_AGAIN_MS))
      throw new OpsError({ code: "STATE_UNAVAILABLE", message: "The state is not open" });
    this.#triedAtMs = this.#lookedAtMs = now;
    const file = this.#open(this.#check);
    this.#check = "quick_check";
    this.quarantined = file.quarantined ?? this.quarantined;
    const isKept = reserve !== undefined && reserve.rows > 0 && log !== undefined;
    const kept = isKept
      ? reserveOf(file.db, { path: join(directory, "state.db"), size: reserve, log })
      : null;
    this.#opened = { ...file, statements: new Map(), reserve: kept };
    return this.#opened;
  }

  #failed(error: unknown): void {
    if (isFailed(error)) this.#lookedAtMs = Number.NEGATIVE_INFINITY;
    if (!isDamaged(error) || this.#opened === null) return;
    this.#options.log?.error("The state file is damaged: it is replaced before it is used again");
    this.#check = "integrity_check";
    this.#opened.close();
    this.#openSoon();
  }

  #openSoon(): void {
    this.#opened = null;
    this.#triedAtMs = Number.NEGATIVE_INFINITY;
  }

  #commitQueue(): void {
    this.#running = this.#commit(this.#queue.splice(0)).finally(() => {
      this.#running = null;
      if (this.#queue.length > 0) setImmediate(() => this.#commitQueue());
    });
  }

  /** One transaction for all; when one of them fails for its own values, one for each. */
  async #commit(jobs: readonly Job[]): Promise<void> {
    try {
      const results = await this.#transaction(jobs);
      for (const [at, { resolve }] of jobs.entries()) resolve(results[at] as never);
    } catch (error) {
      const isOwn = (error as { code?: unknown } | null)?.code !== "ERR_SQLITE_ERROR" || isRefusedRow(error);
      if (jobs.length > 1 && isOwn) for (const job of jobs) await this.#commit([job]);
      else for (const { reject } of jobs) reject(error);
    }
  }

  /** Runs again on a full disk for as long as room can be made. */
  async #transaction(jobs: readonly Job[]): Promise<unknown[]> {
    for (let attempt = 0; ; attempt += 1) {
      const opened = this.#current();
      try {
        opened.reserve?.prepare();
        return await runTogether(opened, jobs, this.#options.nowMs());
      } catch (error) {
        this.#failed(error);
        if (!isDiskFull(error) || opened.reserve?.release(attempt) !== true) throw error;
      }
    }
  }
}

const REMOVED = "The state file or its log was removed or replaced while it was in use: it is opened again";

/** One transaction, in which only microtasks run between its begin and its commit. */
async function runTogether(opened: Opened, jobs: readonly Job[], nowMs: number): Promise<unknown[]> {
  const { db } = opened;
  let isOver = false;
  // A full disk makes SQLite roll back by itself; what a job has called together with what failed comes after that.
  const current = () => {
    if (isOver || !db.isTransaction) throw new Error("The transaction is over");
    return opened;
  };
  const [now, turn] = [() => nowMs, () => null];
  const sql = sqlOn(turn, current, now);
  db.prepare("begin immediate").run();
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

/** `Sql` on what `open` returns at each call, once `turn` has come. */
function sqlOn(turn: () => Promise<void> | null, open: () => Opened, nowMs: () => number): Sql {
  const prepare = (text: string, values: readonly SqlValue[]) => {
    const { db, statements } = open();
    const known = statements.get(text);
    if (known !== undefined) return known;
    const timed = text.replaceAll("{now}", `?${values.length + 1}`);
    const statement = db.prepare(timed.replace(/\{(\w+)\}/g, "$1").replace(/\$(\d+)/g, "?$1"));
    statements.set(text, statement);
    return statement;
  };
  // A number would be bound as a fraction, which as a text has a point.
  const bound = (text: string, values: readonly SqlValue[]) => [
    ...values.map((value) => (Number.isSafeInteger(value) ? BigInt(value as number) : value)),
    ...(text.includes("{now}") ? [BigInt(nowMs())] : []),
  ];
  const run = (text: string, values: readonly SqlValue[]) =>
    Number(prepare(text, values).run(...bound(text, values)).changes);
  return {
    async all(text, values = []) {
      await turn();
      return prepare(text, values).all(...bound(text, values)) as SqlRow[];
    },
    async run(text, values = []) {
      await turn();
      return run(text, values);
    },
    async insert(table, columns, rows, onConflict = "") {
      await turn();
      const marks = columns.map((_, at) => `$${at + 1}`);
      const text = `insert into {${table}} as old (${columns}) values (${marks}) ${onConflict}`;
      for (const row of rows) run(text, row);
    },
  };
}
