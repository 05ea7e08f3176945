import type postgres from "postgres";
import { noAnswer } from "../../../platform/database/error.ts";
import { classifyDatabaseError, type Database, databaseError } from "../../../platform/database/pool.ts";
import { OpsError } from "../../../platform/errors.ts";
import { pause, startLimit } from "../../../platform/timeout.ts";
import { CommitUnknown, type WriteOptions } from "../sql.ts";

/** The setting that has the URL of the state's database. */
export const STATE_URL = "OPSCTL_STATE_URL";

const PAUSE_MS = 100;
/** How long a database that has just not answered may take to say that it is there. */
const PROBE_LIMIT_MS = 1_000;
/** The transaction was rolled back: a deadlock, or another transaction's change. */
const UNDONE = new Set(["40001", "40P01"]);
const UNAVAILABLE = new Set(["DATABASE_LOST", "DATABASE_UNREACHABLE"]);

/** What a call asks of, outside or inside a transaction. */
export type Session<S extends postgres.ISql> = { sql: S; prepares: boolean };

/**
 * The connections to the state's database, with a time limit for every call.
 *
 * Behaviour: after a call without an answer later calls get new connections: in a network that drops every packet none
 *            ends by itself. The next transaction first asks whether the database is there, so that not each of them
 *            waits the whole limit for one that is unavailable.
 * Errors:    those of `databaseError`; DATABASE_TIMEOUT when the limit has passed; what the work itself throws.
 */
export class StateLink {
  readonly #open: () => Promise<Database>;
  readonly #limitMs: number;
  #database: Promise<Database> | undefined;
  #renewedAtMs = Number.NEGATIVE_INFINITY;
  #isAnswering = true;
  #isClosed = false;

  /** Without a `database` the first call opens one. */
  constructor(open: () => Promise<Database>, limitMs: number, database?: Database) {
    this.#open = open;
    this.#limitMs = limitMs;
    if (database !== undefined) this.#database = Promise.resolve(database);
  }

  /** The result of statements without a transaction; `attempt` says what they do, such as "read the outbox". */
  async ask<T>(
    attempt: string,
    work: (session: Session<postgres.Sql>) => Promise<T>,
    limitMs = this.#limitMs,
  ): Promise<T> {
    return await within(limitMs, attempt, (late) => this.#once(late, work));
  }

  /**
   * The result of a transaction.
   *
   * Behaviour: repeated until its limit after it was undone, or lost its connection before the commit was asked for.
   *            After the limit it does not commit.
   * Errors:    `CommitUnknown` when the commit was asked for and not answered.
   */
  async transact<T>(
    attempt: string,
    work: (session: Session<postgres.ISql>) => Promise<T>,
    { moreMs = 0 }: WriteOptions = {},
  ): Promise<T> {
    const probeMs = Math.min(PROBE_LIMIT_MS, this.#limitMs);
    if (!this.#isAnswering) await this.ask(attempt, ({ sql }) => sql`select 1`, probeMs);
    return await within(this.#limitMs + moreMs, attempt, async (late) => {
      for (;;) {
        let isAsked = false;
        const transaction = ({ sql, prepares }: Session<postgres.Sql>) =>
          sql.begin("isolation level read committed", async (tx) => {
            if (late.aborted) throw noAnswer();
            const result = await work({ sql: tx, prepares });
            if (late.aborted) throw noAnswer();
            isAsked = true;
            return result;
          }) as Promise<T>;
        try {
          return await this.#once(late, transaction);
        } catch (error) {
          if (isAsked && !wasRolledBack(error)) throw commitUnknown(attempt, error);
          const { code, sqlState = "" } = classifyDatabaseError(error);
          if (this.#isClosed || !(UNDONE.has(sqlState) || UNAVAILABLE.has(code))) throw error;
          await pause(PAUSE_MS, late);
          if (late.aborted) throw error;
        }
      }
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#database?.then(
      (database) => database.close(),
      () => {},
    );
  }

  async #once<T>(late: AbortSignal, work: (session: Session<postgres.Sql>) => Promise<T>): Promise<T> {
    let database: Database | undefined;
    const answer = async () => {
      database = await this.#connected();
      return await work(database);
    };
    try {
      const result = await Promise.race([answer(), lateness(late)]);
      this.#isAnswering = true;
      return result;
    } catch (error) {
      const { code, sqlState } = classifyDatabaseError(error);
      const isSilent = code === "DATABASE_TIMEOUT" && sqlState === undefined;
      if (isSilent || UNAVAILABLE.has(code)) this.#isAnswering = false;
      if (isSilent && database !== undefined) this.#renew(database);
      throw error;
    }
  }

  #connected(): Promise<Database> {
    if (this.#isClosed) return Promise.reject(closed());
    if (this.#database !== undefined) return this.#database;
    const opening = this.#open();
    this.#database = opening;
    opening.catch(() => {
      this.#database = undefined;
    });
    return opening;
  }

  /** Gives connections that were begun a moment ago the time to be made. */
  #renew(database: Database): void {
    const nowMs = performance.now();
    if (nowMs - this.#renewedAtMs < this.#limitMs / 2) return;
    this.#renewedAtMs = nowMs;
    database.renew();
  }
}

/** Runs `work`, whose signal is aborted when the limit is over; a failure of the database is shown as that of `attempt`. */
async function within<T>(
  limitMs: number,
  attempt: string,
  work: (late: AbortSignal) => Promise<T>,
): Promise<T> {
  const { signal, clear } = startLimit({ limitMs });
  try {
    return await work(signal);
  } catch (error) {
    // Every error of the driver has a code; what the work throws by itself is its own.
    if (!(error instanceof Error && "code" in error)) throw error;
    throw databaseError(error, `${attempt} in the webhook's state`, { setting: STATE_URL });
  } finally {
    clear();
  }
}

function lateness(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const end = () => reject(noAnswer());
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
  });
}

/** Whether the server itself said that a commit failed, and not that it ends the connection. */
function wasRolledBack(error: unknown): boolean {
  const { sqlState } = classifyDatabaseError(error);
  return sqlState !== undefined && !/^(?:08|25P|57P)/.test(sqlState);
}

function commitUnknown(attempt: string, cause: unknown): CommitUnknown {
  return new CommitUnknown(`Cannot ${attempt} in the webhook's state: the answer to the commit was lost`, { cause });
}

function closed(): OpsError {
  return new OpsError({ code: "DATABASE_LOST", message: "Cannot use the webhook's state: it is closed" });
}
