import type postgres from "postgres";
import { classifyDatabaseError, noAnswer } from "./error.ts";
import { type Statement, watchStatements } from "./statements.ts";

/** What was handed to the driver and is waited for: a statement, or the begin or the end of a transaction. */
type Handed = { isSent(): boolean; fail(error: unknown): void };

type Work = (tx: postgres.TransactionSql) => unknown;

/** What a transaction is over with: its connection is gone, or given up. */
const GONE: ReadonlySet<string> = new Set(["DATABASE_LOST", "DATABASE_UNREACHABLE", "DATABASE_READ_ONLY"]);

/**
 * Hands statements and transactions to one of the driver's pools, and sees to it that each of them settles.
 *
 * Behaviour: the driver (3.4.9) leaves some of them unsettled for ever: what stands in its queue when the connections
 *            broke inside transactions, and each further statement, commit and rollback of a transaction whose connection
 *            broke under a statement with parameters. Therefore:
 *            - What was not sent within the limit fails, and is not sent later; in a transaction it is, and rolled back.
 *            - What was sent has the limit of its connection (`DriverStream`), and fails after twice the limit at the
 *              latest. It may take effect; so may a transaction whose commit is waited for.
 *            - A transaction that has lost its connection fails with that loss once its work has ended, and meanwhile
 *              each further statement of it does.
 *            Only `sql`, `sql.unsafe` and `sql.begin` are watched, not savepoints, cursors and reserved connections.
 * Errors:    STATEMENT_TIMEOUT.
 */
export class Handout {
  readonly #limitMs: () => number;
  readonly #onLate: () => void;
  readonly #unsettled = new Set<Handed>();
  #transactions = 0;
  #gone: Error | undefined;

  /** `onLate` is called when the limit is over for something that was not sent. */
  constructor(limitMs: () => number, onLate: () => void) {
    this.#limitMs = limitMs;
    this.#onLate = onLate;
  }

  /** Whether nothing is waited for, and no transaction is open that may hand out more. */
  get isEmpty(): boolean {
    return this.#unsettled.size === 0 && this.#transactions === 0;
  }

  /** The pool with everything handed out by this. */
  of(pool: postgres.Sql): postgres.Sql {
    const begin = (...args: [...string[], Work]) => this.#begin(pool, args);
    return watchStatements(pool, (statement) => this.#watch(statement), { begin });
  }

  /** Fails what was not sent, and what is handed out from now on: the pool has no connection left for it. */
  failUnsent(error: Error): void {
    this.#gone = error;
    for (const handed of this.#unsettled) if (!handed.isSent()) handed.fail(error);
  }

  /** Fails everything that has not settled, and what is handed out from now on. */
  failAll(error: Error): void {
    this.#gone = error;
    for (const handed of this.#unsettled) handed.fail(error);
  }

  #watch(statement: Statement, transaction?: LostTransaction): void {
    const { handler } = statement;
    statement.handler = () => {
      const gone = transaction?.loss ?? this.#gone;
      if (gone !== undefined) return statement.reject(gone);
      const fail = (error: unknown) => {
        statement.reject(error);
        // In a transaction the driver would stop at it, and never send the rollback that undoes it.
        if (statement.state === null && transaction === undefined) statement.cancel();
      };
      const settled = this.#waitFor({ isSent: () => statement.state !== null, fail });
      const left = transaction?.enter(fail);
      const end = () => {
        settled();
        left?.();
      };
      statement.then(end, (error: unknown) => {
        end();
        transaction?.end(error);
      });
      handler(statement);
    };
  }

  #begin(pool: postgres.Sql, args: [...string[], Work]): Promise<unknown> {
    const work = args.pop() as Work;
    return new Promise((resolve, reject) => {
      if (this.#gone !== undefined) return reject(this.#gone);
      let failure: { cause: unknown } | undefined;
      const fail = (error: unknown) => {
        failure = { cause: error };
        reject(error);
      };
      const begun = this.#waitFor({ isSent: () => false, fail });
      let ended = () => {};
      let isSettled = false;
      const watched = async (tx: postgres.TransactionSql) => {
        begun();
        if (failure !== undefined) throw failure.cause;
        const transaction = new LostTransaction();
        this.#transactions += 1;
        try {
          const made = work(watchStatements(tx, (statement) => this.#watch(statement, transaction)));
          return await (Array.isArray(made) ? Promise.all(made) : made);
        } catch (error) {
          transaction.end(error);
          throw error;
        } finally {
          this.#transactions -= 1;
          if (transaction.loss !== undefined) fail(transaction.loss);
          // The driver ends a transaction with its connection, whatever its work still does.
          else if (!isSettled) ended = this.#waitFor({ isSent: () => true, fail });
        }
      };
      const driven: Promise<unknown> = Reflect.apply(pool.begin, undefined, [...args, watched]);
      const settled = () => {
        isSettled = true;
        begun();
        ended();
      };
      driven.then(resolve, reject).then(settled);
    });
  }

  /** Starts the limit; the function returned ends it. */
  #waitFor({ isSent, fail }: Handed): () => void {
    const limitMs = this.#limitMs();
    const late = () => {
      if (isSent()) {
        timer = setTimeout(() => handed.fail(noAnswer()), limitMs);
        return;
      }
      this.#onLate();
      handed.fail(noAnswer());
    };
    let timer = setTimeout(late, limitMs);
    const settled = () => {
      clearTimeout(timer);
      this.#unsettled.delete(handed);
    };
    const handed: Handed = {
      isSent,
      fail(error) {
        settled();
        fail(error);
      },
    };
    this.#unsettled.add(handed);
    return settled;
  }
}

/** The fate that the statements of a transaction share. */
class LostTransaction {
  /** What the transaction is over with; undefined while its connection holds. */
  loss: unknown;
  readonly #waiting = new Set<(error: unknown) => void>();

  enter(fail: (error: unknown) => void): () => void {
    this.#waiting.add(fail);
    return () => this.#waiting.delete(fail);
  }

  end(error: unknown): void {
    if (this.loss !== undefined || !endsTransaction(error)) return;
    this.loss = error;
    for (const fail of this.#waiting) fail(error);
  }
}

function endsTransaction(error: unknown): boolean {
  const { code, sqlState } = classifyDatabaseError(error);
  return GONE.has(code) || (code === "DATABASE_TIMEOUT" && sqlState === undefined);
}
