import type postgres from "postgres";
import { noAnswer } from "../../../platform/database/error.ts";
import { classifyDatabaseError, type Database, databaseError } from "../../../platform/database/pool.ts";
import { OpsError } from "../../../platform/errors.ts";
import { pause, withTimeout } from "../../../platform/timeout.ts";
import { CommitUnknown, type Sql, type SqlRow, type SqlValue, type WriteOptions } from "../sql.ts";

/** The setting that has the URL of the state's database. */
export const STATE_URL = "OPSCTL_STATE_URL";

const PAUSE_MS = 100;
/** How long a database that has just not answered may take to say that it is there. */
const PROBE_LIMIT_MS = 1_000;
/** Deadlock, or a row that another transaction has changed. */
const UNDONE = new Set(["40001", "40P01"]);
const UNAVAILABLE = new Set(["DATABASE_LOST", "DATABASE_UNREACHABLE"]);

const NAMES: Readonly<Record<string, string>> = { now: "opsctl_state.now_ms()", id: "bigint" };
/** How many rows one statement inserts: few lengths, so that few statements are prepared. */
const INSERT_LENGTHS = [256, 64, 16, 4, 1];
/** PostgreSQL's types of values, and of columns that the driver reads as a text or as true and false. */
const [BIGINT, TEXT, NUMERIC, BOOLEAN] = [20, 25, 1700, 16];

type Work<T> = (sql: Sql) => Promise<T>;

/**
 * The connections to the state's database, with a time limit for every call.
 *
 * Behaviour: after a call without an answer later ones get new connections: in a network that drops every packet none
 *            ends by itself. The next transaction asks first whether the database is there, so that not each one waits
 *            the whole limit for a database that is unavailable.
 * Errors:    those of `databaseError`, DATABASE_TIMEOUT after the limit; what the work itself throws.
 */
export class StateLink {
  readonly #open: () => Promise<Database>;
  readonly #limitMs: number;
  #database: Promise<Database> | undefined;
  #isAnswering = true;
  #isClosed = false;

  /** The first call opens the connections. */
  constructor(open: () => Promise<Database>, limitMs: number) {
    this.#open = open;
    this.#limitMs = limitMs;
  }

  /** The result of statements without a transaction; `attempt` says what they do, such as "read the outbox". */
  async ask<T>(attempt: string, work: Work<T>, limitMs = this.#limitMs): Promise<T> {
    return await this.#within(limitMs, attempt, async () => {
      const { sql, prepares } = await this.#connected();
      return await work(sqlOn(sql, prepares));
    });
  }

  /**
   * The result of a transaction.
   *
   * Behaviour: repeated until its limit when it was undone, or lost its connection before the commit was asked for;
   *            after the limit it does not commit any more.
   * Errors:    `CommitUnknown`.
   */
  async transact<T>(attempt: string, work: Work<T>, { moreMs = 0 }: WriteOptions = {}): Promise<T> {
    const probeMs = Math.min(PROBE_LIMIT_MS, this.#limitMs);
    if (!this.#isAnswering) await this.ask(attempt, (sql) => sql.all("select 1"), probeMs);
    let isCommitAsked = false;
    const once = async (late: AbortSignal) => {
      const { sql, prepares } = await this.#connected();
      return (await sql.begin("isolation level read committed", async (tx) => {
        if (late.aborted) throw noAnswer();
        const result = await work(sqlOn(tx, prepares));
        if (late.aborted) throw noAnswer();
        isCommitAsked = true;
        return result;
      })) as T;
    };
    const repeatedly = async (late: AbortSignal): Promise<T> => {
      try {
        return await once(late);
      } catch (error) {
        const { code, sqlState = "" } = classifyDatabaseError(error);
        // A server that refuses a commit has rolled back, unless it ends the connection with its error.
        isCommitAsked &&= /^(?:$|08|25P|57P)/.test(sqlState);
        if (isCommitAsked || !(UNDONE.has(sqlState) || UNAVAILABLE.has(code))) throw error;
        await pause(PAUSE_MS, late);
        if (late.aborted) throw error;
        return await repeatedly(late);
      }
    };
    try {
      return await this.#within(this.#limitMs + moreMs, attempt, repeatedly);
    } catch (cause) {
      throw isCommitAsked
        ? new CommitUnknown(`Cannot ${attempt}: no answer to the commit`, { cause })
        : cause;
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#database?.then(
      (database) => database.close(),
      () => {},
    );
  }

  async #within<T>(limitMs: number, attempt: string, work: (late: AbortSignal) => Promise<T>): Promise<T> {
    try {
      const result = await withTimeout({ limitMs }, work, () => Promise.reject(noAnswer()));
      this.#isAnswering = true;
      return result;
    } catch (error) {
      // The driver's errors have a code; another is the work's own.
      if (!(error instanceof Error && "code" in error)) throw error;
      const { code, sqlState, transient } = classifyDatabaseError(error);
      if (transient && sqlState === undefined) this.#isAnswering = false;
      // In a shorter time new connections may not be made yet.
      if (code === "DATABASE_TIMEOUT" && sqlState === undefined && limitMs >= this.#limitMs)
        void this.#database?.then((database) => database.renew()).catch(() => {});
      throw databaseError(error, `${attempt} in the webhook's state`, { setting: STATE_URL });
    }
  }

  async #connected(): Promise<Database> {
    if (this.#isClosed)
      throw new OpsError({ code: "STATE_UNAVAILABLE", message: "The webhook's state is closed" });
    this.#database ??= this.#open().catch((error: unknown) => {
      this.#database = undefined;
      throw error;
    });
    return await this.#database;
  }
}

/** A text of the store's statements as PostgreSQL takes it: see `Sql`. */
export function inPostgres(text: string): string {
  return text.replace(/\{(\w+)\}/g, (_, name: string) => NAMES[name] ?? `opsctl_state.${name}`);
}

/** The store's statements, on the pool or in a transaction of it; those that are not awaited are sent together. */
function sqlOn(sql: postgres.ISql, prepare: boolean): Sql {
  const typed = (value: SqlValue) =>
    value === null ? null : sql.typed(value as string, typeof value === "number" ? BIGINT : TEXT);
  const ask = (text: string, values: readonly SqlValue[] = []) =>
    sql.unsafe<SqlRow[]>(inPostgres(text), values.map(typed), { prepare });
  return {
    async all(text, values) {
      const rows = await ask(text, values);
      const numbers = rows.columns.filter(({ type }) => [BIGINT, NUMERIC, BOOLEAN].includes(type));
      for (const row of rows)
        for (const { name } of numbers) if (row[name] !== null) row[name] = Number(row[name]);
      return [...rows];
    },
    run: async (text, values) => (await ask(text, values)).count,
    async insert(table, columns, rows, onConflict = "") {
      const head = inPostgres(`insert into {${table}} as old (${columns.join()}) values`);
      const insertSome = (chunk: readonly (readonly SqlValue[])[]) => {
        let mark = 0;
        const marks = chunk.map((row) => `(${row.map(() => `$${++mark}`)})`);
        // Without types, so that each value has that of its column, also null.
        return sql.unsafe(`${head} ${marks} ${onConflict}`, chunk.flat(), { prepare });
      };
      const rest = [...rows];
      const statements: Promise<unknown>[] = [];
      for (const length of INSERT_LENGTHS)
        while (rest.length >= length) statements.push(insertSome(rest.splice(0, length)));
      await Promise.all(statements);
    },
  };
}
