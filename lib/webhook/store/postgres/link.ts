import { setTimeout as delay } from "node:timers/promises";
import type postgres from "postgres";
import { classifyDatabaseError, type Database, databaseError } from "../../../platform/database/pool.ts";
import { OpsError } from "../../../platform/errors.ts";
import { CommitUnknown, type Sql, type SqlRow, type SqlValue } from "../sql.ts";

/** The setting that has the URL of the state's database. */
export const STATE_URL = "OPSCTL_STATE_URL";

const PAUSE_MS = 100;
/** Deadlock, or a row that another transaction has changed. */
const UNDONE = new Set(["40001", "40P01"]);

const NAMES: Readonly<Record<string, string>> = { now: "opsctl_state.now_ms()", id: "bigint" };
/** How many rows one statement inserts: few lengths, so that few statements are prepared. */
const INSERT_LENGTHS = [256, 64, 16, 4, 1];
/** Types of columns that the driver reads as a text or as true and false: bigint, numeric, boolean. */
const NUMBERS: readonly number[] = [20, 1700, 16];

type Work<T> = (sql: Sql) => Promise<T>;

/**
 * The connections to the state's database, which `open` makes for the first call that needs them.
 *
 * Shape:     `ask` returns the result of statements without a
 *            transaction, `transact` that of a transaction, which is repeated for `limitMs` when it was undone, and once
 *            when it lost its connection before the commit was asked for.
 * Behaviour: each statement has the time limit of the connections that `open` makes.
 * Errors:    those of `databaseError`; `CommitUnknown`; what the work itself throws.
 */
export function stateLink(open: () => Promise<Database>, limitMs: number) {
  let database: Promise<Database> | undefined;
  let isClosed = false;
  const connected = async (): Promise<Database> => {
    if (isClosed) throw new OpsError({ code: "STATE_UNAVAILABLE", message: "The webhook's state is closed" });
    database ??= open().catch((error: unknown) => {
      database = undefined;
      throw error;
    });
    return await database;
  };
  return {
    async ask<T>(work: Work<T>): Promise<T> {
      try {
        const { sql, prepares } = await connected();
        return await work(sqlOn(sql, prepares));
      } catch (error) {
        throw failureOf(error);
      }
    },
    async transact<T>(work: Work<T>): Promise<T> {
      const startedMs = performance.now();
      for (let isFirst = true; ; isFirst = false) {
        let isCommitAsked = false;
        try {
          const { sql, prepares } = await connected();
          return (await sql.begin("isolation level read committed", async (tx) => {
            // Accepting takes a lock: that of a host that is cut off must not outlive it by hours.
            const limit = tx.unsafe("set local idle_in_transaction_session_timeout = '10s'").simple();
            const [result] = await Promise.all([work(sqlOn(tx, prepares)), limit]);
            isCommitAsked = true;
            return result;
          })) as T;
        } catch (cause) {
          const { code, sqlState = "" } = classifyDatabaseError(cause);
          // A server that refuses a commit has rolled back, unless it ends the connection with its error.
          if (isCommitAsked && /^(?:$|08|25P|57P)/.test(sqlState))
            throw new CommitUnknown("The state's database gave no answer to a commit", { cause });
          const isAgain = UNDONE.has(sqlState)
            ? performance.now() - startedMs < limitMs
            : isFirst && code === "DATABASE_LOST";
          if (!isAgain) throw failureOf(cause);
        }
        await delay(PAUSE_MS);
      }
    },
    async close(): Promise<void> {
      isClosed = true;
      const opened = await database?.catch(() => null);
      await opened?.close();
    },
  };
}

/** The driver's errors have a code; another is the work's own. */
function failureOf(error: unknown): unknown {
  if (!(error instanceof Error && "code" in error)) return error;
  return databaseError(error, "use the webhook's state", { setting: STATE_URL });
}

/** A text of the store's statements as PostgreSQL takes it: see `Sql`. */
export function inPostgres(text: string): string {
  return text.replace(/\{(\w+)\}/g, (_, name: string) => NAMES[name] ?? `opsctl_state.${name}`);
}

/** The store's statements, on the pool or in a transaction of it; those that are not awaited are sent together. */
function sqlOn(sql: postgres.ISql, prepare: boolean): Sql {
  const ask = (text: string, values: readonly SqlValue[] = []) =>
    sql.unsafe<SqlRow[]>(inPostgres(text), [...values], { prepare });
  return {
    async all(text, values) {
      const rows = await ask(text, values);
      const numbers = rows.columns.filter(({ type }) => NUMBERS.includes(type));
      for (const row of rows)
        for (const { name } of numbers) if (row[name] !== null) row[name] = Number(row[name]);
      return [...rows];
    },
    run: async (text, values) => (await ask(text, values)).count,
    async insert(table, columns, rows, onConflict = "") {
      const insertSome = (some: readonly (readonly SqlValue[])[]) => {
        let mark = 0;
        const marks = some.map((row) => `(${row.map(() => `$${++mark}`)})`);
        return ask(`insert into {${table}} as old (${columns}) values ${marks} ${onConflict}`, some.flat());
      };
      const rest = [...rows];
      const statements: Promise<unknown>[] = [];
      for (const length of INSERT_LENGTHS)
        while (rest.length >= length) statements.push(insertSome(rest.splice(0, length)));
      await Promise.all(statements);
    },
  };
}
