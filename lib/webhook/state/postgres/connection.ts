import { setTimeout as sleep } from "node:timers/promises";
import type postgres from "postgres";
import { noAnswer } from "../../../platform/database/error.ts";
import { classifyDatabaseError, type Database, databaseError } from "../../../platform/database/pool.ts";
import { OpsError } from "../../../platform/errors.ts";
import { startLimit } from "../../../platform/timeout.ts";
import { STATE_URL } from "./opener.ts";

/** How a call is made; `moreMs` is added for its size; `repeats`: asked for twice, it is done once. */
export type CallOptions = { limitMs?: number; moreMs?: number; repeats?: boolean };

const PAUSE_MS = 100;

/** The statement was rolled back: a deadlock, or another transaction's change. */
const UNDONE = new Set(["40001", "40P01"]);
/** The server has become a replica: the address may lead to its primary by now. */
const READ_ONLY = "25006";

/**
 * The connections to the state's database, with a time limit for every call.
 *
 * Behaviour: when an answer does not come within its limit, the connections are given up and later calls get new ones:
 *            in a network that drops every packet no connection ends by itself. What was asked may have been done. A
 *            server that takes no writes gives up the connections, too, but no more often than a call may last.
 * Errors:    `OpsError` with the codes of `databaseError`; DATABASE_TIMEOUT when the limit has passed.
 */
export class StateLink {
  readonly #open: () => Promise<Database>;
  readonly #limitMs: number;
  #database: Promise<Database> | undefined;
  #openedAtMs = Number.NEGATIVE_INFINITY;
  readonly #closing = new Set<Promise<void>>();
  readonly #ended = new AbortController();

  /** `database` is null where none could be opened yet: the first call does it. */
  constructor(database: Database | null, open: () => Promise<Database>, limitMs: number) {
    this.#database = database === null ? undefined : Promise.resolve(database);
    this.#open = open;
    this.#limitMs = limitMs;
  }

  /** The result of `work`; `attempt` says what it does, such as "read the outbox". */
  async ask<T>(
    attempt: string,
    work: (sql: postgres.Sql) => Promise<T>,
    { limitMs = this.#limitMs, moreMs = 0, repeats = false }: CallOptions = {},
  ): Promise<T> {
    const { signal, clear } = startLimit({ limitMs: limitMs + moreMs });
    try {
      return await this.#until(signal, (database) => work(database.sql), repeats);
    } catch (error) {
      throw databaseError(error, `${attempt} in the webhook's state`, { setting: STATE_URL });
    } finally {
      clear();
    }
  }

  async close(): Promise<void> {
    this.#ended.abort();
    const current = this.#database?.then(
      (database) => database.close(),
      () => {},
    );
    await Promise.all([current, ...this.#closing]);
  }

  get #isClosed(): boolean {
    return this.#ended.signal.aborted;
  }

  async #until<T>(late: AbortSignal, work: (database: Database) => Promise<T>, repeats: boolean): Promise<T> {
    for (;;) {
      const opening = this.#connected();
      try {
        return await Promise.race([opening.then(work), lateness(late)]);
      } catch (error) {
        const fault = classifyDatabaseError(error);
        if (fault.code === "DATABASE_TIMEOUT") this.#giveUp(opening, 0);
        // What other calls have asked of these connections may end within its own limit.
        if (fault.sqlState === READ_ONLY && this.#isOld) this.#giveUp(opening, this.#limitMs);
        const isUndone = UNDONE.has(fault.sqlState ?? "");
        const isAway = fault.code === "DATABASE_LOST" || fault.code === "DATABASE_UNREACHABLE";
        if (this.#isClosed || !(isUndone || (repeats && isAway))) throw error;
        await Promise.race([sleep(PAUSE_MS), lateness(late)]).catch(() => {
          throw error;
        });
      }
    }
  }

  #connected(): Promise<Database> {
    if (this.#isClosed) return Promise.reject(closed());
    if (this.#database === undefined) {
      const opening = this.#open();
      this.#database = opening;
      this.#openedAtMs = performance.now();
      opening.catch(() => {
        if (this.#database === opening) this.#database = undefined;
      });
    }
    return this.#database;
  }

  /** Whether the connections are older than one call: new ones could lead to another server. */
  get #isOld(): boolean {
    return performance.now() - this.#openedAtMs > this.#limitMs;
  }

  #giveUp(given: Promise<Database>, closeAfterMs: number): void {
    if (this.#database === given) this.#database = undefined;
    const closing = this.#closeLater(given, closeAfterMs).finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }

  async #closeLater(given: Promise<Database>, afterMs: number): Promise<void> {
    const { signal } = this.#ended;
    await sleep(afterMs, undefined, { signal }).catch(() => {});
    await given.then((database) => database.close()).catch(() => {});
  }
}

function lateness(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const end = () => reject(noAnswer());
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
  });
}

function closed(): OpsError {
  return new OpsError({ code: "DATABASE_LOST", message: "Cannot use the webhook's state: it is closed" });
}
