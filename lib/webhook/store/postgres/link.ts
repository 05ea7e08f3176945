import type postgres from "postgres";
import { noAnswer } from "../../../platform/database/error.ts";
import { classifyDatabaseError, type Database, databaseError } from "../../../platform/database/pool.ts";
import { OpsError } from "../../../platform/errors.ts";
import { pause, withTimeout } from "../../../platform/timeout.ts";
import { CommitUnknown, type WriteOptions } from "../sql.ts";

/** The setting that has the URL of the state's database. */
export const STATE_URL = "OPSCTL_STATE_URL";

const PAUSE_MS = 100;
/** How long a database that has just not answered may take to say that it is there. */
const PROBE_LIMIT_MS = 1_000;
/** The transaction was rolled back, by a deadlock or another's change, or has lost its connection. */
const MAY_BE_REPEATED = new Set(["40001", "40P01", "DATABASE_LOST", "DATABASE_UNREACHABLE"]);

/** What is asked, of the pool or in a transaction of it. */
type Work<T> = (sql: postgres.ISql, database: Database) => Promise<T>;

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
  #database: Database | undefined;
  #opening: Promise<Database> | undefined;
  #renewedAtMs = Number.NEGATIVE_INFINITY;
  #isAnswering = true;
  #isClosed = false;

  /** Without a `database` the first call opens one. */
  constructor(open: () => Promise<Database>, limitMs: number, database?: Database) {
    this.#open = open;
    this.#limitMs = limitMs;
    this.#database = database;
  }

  /** The result of statements without a transaction; `attempt` says what they do, such as "read the outbox". */
  async ask<T>(attempt: string, work: Work<T>, limitMs = this.#limitMs): Promise<T> {
    return await this.#within(limitMs, attempt, async () => {
      const database = await this.#connected();
      return await work(database.sql, database);
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
    if (!this.#isAnswering) await this.ask(attempt, (sql) => sql`select 1`, probeMs);
    let isCommitAsked = false;
    const once = async (late: AbortSignal) => {
      const database = await this.#connected();
      return await database.sql.begin("isolation level read committed", async (tx) => {
        if (late.aborted) throw noAnswer();
        const result = await work(tx, database);
        if (late.aborted) throw noAnswer();
        isCommitAsked = true;
        return result;
      });
    };
    const repeated = async (late: AbortSignal) => {
      for (;;) {
        try {
          return (await once(late)) as T;
        } catch (error) {
          const { code, sqlState } = classifyDatabaseError(error);
          // A server that refuses has rolled back, unless it ends the connection with its error.
          if (sqlState !== undefined && !/^(?:08|25P|57P)/.test(sqlState)) isCommitAsked = false;
          if (
            isCommitAsked ||
            this.#isClosed ||
            !MAY_BE_REPEATED.has(code === "DATABASE_BUSY" ? sqlState! : code)
          )
            throw error;
          await pause(PAUSE_MS, late);
          if (late.aborted) throw error;
        }
      }
    };
    try {
      return await this.#within(this.#limitMs + moreMs, attempt, repeated);
    } catch (error) {
      throw isCommitAsked
        ? new CommitUnknown(`Cannot ${attempt}: no answer to the commit`, { cause: error })
        : error;
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const database = this.#database ?? (await this.#opening?.catch(() => undefined));
    await database?.close();
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
      if (code === "DATABASE_TIMEOUT" && sqlState === undefined) this.#renew();
      throw databaseError(error, `${attempt} in the webhook's state`, { setting: STATE_URL });
    }
  }

  async #connected(): Promise<Database> {
    if (this.#isClosed)
      throw new OpsError({ code: "DATABASE_LOST", message: "The webhook's state is closed" });
    if (this.#database !== undefined) return this.#database;
    this.#opening ??= this.#open().finally(() => {
      this.#opening = undefined;
    });
    this.#database = await this.#opening;
    return this.#database;
  }

  /** Not too often: connections that have just been begun need their time. */
  #renew(): void {
    const nowMs = performance.now();
    if (nowMs - this.#renewedAtMs < this.#limitMs / 2) return;
    this.#renewedAtMs = nowMs;
    this.#database?.renew();
  }
}
