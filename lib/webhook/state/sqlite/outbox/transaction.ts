import type { DatabaseSync } from "node:sqlite";

/** Runs work in a transaction that may write from its start; when it throws, nothing is changed. */
export type Transaction = <T>(work: () => T) => T;

/**
 * Transactions on `db`, with their statements prepared once.
 *
 * Errors: those of `work` and of SQLite, the commit's included; the connection can be used again afterwards.
 */
export function transactionsOn(db: DatabaseSync): Transaction {
  const begin = db.prepare("begin immediate");
  const commit = db.prepare("commit");
  return (work) => {
    begin.run();
    try {
      const result = work();
      commit.run();
      return result;
    } catch (error) {
      // A full disk makes SQLite roll back by itself.
      if (db.isTransaction) db.exec("rollback");
      throw error;
    }
  };
}
