import { join } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import { type SqliteDedup, sqliteDedup } from "../../../dedup/sqlite.ts";
import { OpsError } from "../../../platform/errors.ts";
import { type FileLock, tryFileLock } from "../../../platform/files/file-lock.ts";
import type { Log } from "../../../platform/log/log.ts";
import type { Sql, SqlRow, SqlValue, Store } from "../sql.ts";
import { isDamaged, isDiskFull, isFailed, isRefusedRow } from "./errors.ts";
import { ensureTables, inodeOf, openStateFile, type StateFile } from "./file.ts";
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
  return new FileStore(options);
}

/** A store in memory, for this process alone. */
export function openMemoryStore(nowMs: () => number): Store {
  const db = new DatabaseSync(":memory:");
  ensureTables(db);
  return new MemoryStore(nowMs, { db, statements: new Map(), reserve: null });
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

type Opened = { db: DatabaseSync; statements: Map<string, StatementSync>; reserve: Reserve | null };

/** `Sql` on the database that `open` returns at each call, once `turn` has come. */
function sqlOn(turn: () => Promise<void> | null, open: () => Opened, nowMs: () => number): Sql {
  const prepare = (text: string, values: readonly SqlValue[]) => {
    const { db, statements } = open();
    const known = statements.get(text);
    if (known !== undefined) return known;
    const now = `?${values.length + 1}`;
    const own = text
      .replaceAll("{now}", now)
      .replace(/\{(\w+)\}/g, "$1")
      .replace(/\$(\d+)/g, "?$1");
    const statement = db.prepare(own);
    statements.set(text, statement);
    return statement;
  };
  // A number would be bound as a fraction, which as a text has a point.
  const bound = (text: string, values: readonly SqlValue[]) => [
    ...values.map((value) => (Number.isSafeInteger(value) ? BigInt(value as number) : value)),
    ...(text.includes("{now}") ? [BigInt(nowMs())] : []),
  ];
  return {
    async all(text, values = []) {
      await turn();
      return prepare(text, values).all(...bound(text, values)) as SqlRow[];
    },
    async run(text, values = []) {
      await turn();
      return Number(prepare(text, values).run(...bound(text, values)).changes);
    },
    async insert(table, columns, rows, onConflict = "") {
      await turn();
      const marks = columns.map((_, at) => `$${at + 1}`).join(", ");
      const text = `insert into {${table}} as old (${columns.join(", ")}) values (${marks}) ${onConflict}`;
      for (const row of rows) prepare(text, row).run(...bound(text, row));
    },
  };
}

type Job = {
  work: (sql: Sql) => Promise<unknown>;
  resolve: (result: never) => void;
  reject: (error: unknown) => void;
};

/** A store in memory: between the begin of a transaction and its commit only microtasks run. */
class MemoryStore implements Store {
  readonly holder = null;
  quarantined: string | null = null;
  readonly isRowRefused = isRefusedRow;
  protected opened: Opened | null;
  readonly #nowMs: () => number;
  #queue: Job[] = [];
  /** The transactions that run now: what is read meanwhile waits, so that it sees no row that is not committed. */
  #running: Promise<void> | null = null;

  constructor(nowMs: () => number, opened: Opened | null) {
    this.#nowMs = nowMs;
    this.opened = opened;
  }

  async read<T>(_attempt: string, work: (sql: Sql) => Promise<T>): Promise<T> {
    const turn = async () => {
      while (this.#running !== null) await this.#running;
    };
    try {
      return await work(sqlOn(turn, () => this.current(), this.#nowMs));
    } catch (error) {
      this.failed(error);
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
    return true;
  }

  async check(): Promise<void> {
    await this.write("check the state", async (sql) => {
      await sql.run("insert into room (filling) values (zeroblob($1))", [ROOM_BYTES]);
      await sql.run("delete from room where id < (select max(id) from room)");
    });
  }

  async reserveBytes(): Promise<number | null> {
    return null;
  }

  async afterPrune(): Promise<void> {
    const steps = this.current().reserve?.upkeep();
    for (let isDone = steps === undefined, pauseMs = 0; !isDone; await delay(pauseMs)) {
      while (this.#running !== null) await this.#running;
      const startedMs = performance.now();
      isDone = this.opened === null || steps?.next().done === true;
      pauseMs = Math.max(PAUSE_MS, 2 * (performance.now() - startedMs));
    }
  }

  async close(): Promise<void> {
    while (this.#queue.length > 0 || this.#running !== null) await delay(1);
    this.opened?.db.close();
    this.opened = null;
  }

  protected current(): Opened {
    if (this.opened === null)
      throw new OpsError({ code: "STATE_UNAVAILABLE", message: "The state is not open" });
    return this.opened;
  }

  protected failed(_error: unknown): void {}

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
      const opened = this.current();
      try {
        opened.reserve?.prepare();
        return await runTogether(opened, jobs, this.#nowMs());
      } catch (error) {
        this.failed(error);
        if (!isDiskFull(error) || opened.reserve?.release(attempt) !== true) throw error;
      }
    }
  }
}

async function runTogether(opened: Opened, jobs: readonly Job[], nowMs: number): Promise<unknown[]> {
  const { db } = opened;
  let isOver = false;
  // A full disk makes SQLite roll back by itself; what a job has called together with what failed comes after that.
  const open = () => {
    if (isOver || !db.isTransaction) throw new Error("The transaction is over");
    return opened;
  };
  const sql = sqlOn(
    () => null,
    open,
    () => nowMs,
  );
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

/** The store in a file, opened again after that was found damaged, removed or replaced. */
class FileStore extends MemoryStore {
  readonly #options: SqliteStoreOptions;
  readonly #path: string;
  #file: StateFile | null = null;
  #inodes: readonly string[] = [];
  #check: "quick_check" | "integrity_check" = "quick_check";
  #triedAtMs = Number.NEGATIVE_INFINITY;
  #lookedAtMs = 0;
  #lock: FileLock | null = null;
  /** When SQLite closes a database, it removes the log at its path, which is another one's by then. */
  readonly #left: DatabaseSync[] = [];

  constructor(options: SqliteStoreOptions) {
    super(options.nowMs, null);
    this.#options = options;
    this.#path = join(options.directory, "state.db");
    try {
      this.#open();
    } catch (error) {
      const cause = error instanceof OpsError ? error.cause : error;
      if (options.mayBeUnavailable !== true || !(isDiskFull(cause) || isFailed(cause))) throw error;
      const hint = "Alerts are sent from memory until it can be: make room on its disk, or repair it";
      options.log.error("The state cannot be opened at the start", { cause: error, hint });
    }
  }

  override async lead(): Promise<boolean> {
    this.#lock ??= tryFileLock(join(this.#options.directory, "dispatcher.lock"));
    return this.#lock !== null;
  }

  override async reserveBytes(): Promise<number | null> {
    const bytes = "select coalesce(sum(length(filling)), 0) as bytes from reserve";
    return Number((await this.read("read the reserve", (sql) => sql.all(bytes)))[0]?.bytes);
  }

  override async close(): Promise<void> {
    await super.close();
    this.#file?.leave();
    this.#lock?.release();
    this.#triedAtMs = Number.NaN;
  }

  protected override current(): Opened {
    const { nowMs, log } = this.#options;
    if (this.opened !== null) this.#look(this.opened.db);
    if (this.opened === null && Math.abs(nowMs() - this.#triedAtMs) >= OPEN_AGAIN_MS) {
      this.#open();
      log.info("The state is open again");
    }
    return super.current();
  }

  protected override failed(error: unknown): void {
    if (isFailed(error)) this.#lookedAtMs = Number.NEGATIVE_INFINITY;
    if (!isDamaged(error) || this.opened === null) return;
    this.#options.log.error("The state file is damaged: it is replaced before it is used again");
    this.#check = "integrity_check";
    this.#file?.close();
    this.#openSoon();
  }

  #open(): void {
    const { nowMs, log, reserve: size } = this.#options;
    this.#triedAtMs = nowMs();
    this.#lookedAtMs = this.#triedAtMs;
    const file = openStateFile({ ...this.#options, check: this.#check });
    this.#check = "quick_check";
    this.#file = file;
    this.quarantined = file.quarantined ?? this.quarantined;
    this.#inodes = this.#findInodes();
    const reserve = size?.rows ? reserveOf(file.db, { path: this.#path, size, log }) : null;
    this.opened = { db: file.db, statements: new Map(), reserve };
  }

  #openSoon(): void {
    this.opened = null;
    this.#triedAtMs = Number.NEGATIVE_INFINITY;
  }

  /** Once a minute: whether the file and its log are still those that were opened. */
  #look(db: DatabaseSync): void {
    const { nowMs, log } = this.#options;
    if (Math.abs(nowMs() - this.#lookedAtMs) < LOOK_MS) return;
    this.#lookedAtMs = nowMs();
    const [file, wal] = this.#findInodes();
    const isHere = file === this.#inodes[0];
    if (isHere && wal === this.#inodes[1]) return;
    // Another process would begin a log of its own: what this one has must be in the file before.
    if (isHere && !isCheckpointed(db)) return;
    log.error(isHere ? LOG_REMOVED : FILE_REMOVED, { file: this.#path });
    this.#left.push(db);
    this.#file?.leave();
    this.#openSoon();
  }

  #findInodes(): string[] {
    return [inodeOf(this.#path), inodeOf(`${this.#path}-wal`)];
  }
}

const LOG_REMOVED = "The log of the state file was removed while it was in use: nothing in it is lost";
const FILE_REMOVED = "The state file was removed or replaced while it was in use: what waited in it is lost";

function isCheckpointed(db: DatabaseSync): boolean {
  const { busy, log, checkpointed } = { ...db.prepare("pragma wal_checkpoint(passive)").get() };
  return busy === 0 && log === checkpointed;
}
