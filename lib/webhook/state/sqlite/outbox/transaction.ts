import type { DatabaseSync } from "node:sqlite";
import { isDiskFull } from "../file/open-sqlite.ts";
import type { RoomMaker } from "../reserve/reserve.ts";

/** Runs work in a transaction that may write from its start; when it throws, nothing is changed. */
export type Transaction = <T>(work: () => T) => T;

/** What makes room on a full disk, if there is something; what comes first in a transaction, and after a failure. */
export type TransactionOptions = { room: RoomMaker | null; onBegin: () => void; onRollback: () => void };

/**
 * Transactions on `db`, with their statements prepared once.
 *
 * Behaviour: on a full disk `work` runs again for as long as room can be made for it.
 * Errors:    those of `work` and of SQLite, the commit's included; the connection can be used again afterwards.
 */
export function transactionsOn(
  db: DatabaseSync,
  { room, onBegin, onRollback }: TransactionOptions,
): Transaction {
  const once = transactionOn(db, onBegin);
  return (work) => {
    room?.prepare();
    for (let attempt = 0; ; attempt += 1)
      try {
        return once(work);
      } catch (error) {
        onRollback();
        if (!isDiskFull(error) || room?.make(attempt) !== true) throw error;
      }
  };
}

function transactionOn(db: DatabaseSync, onBegin: () => void): Transaction {
  const begin = db.prepare("begin immediate");
  const commit = db.prepare("commit");
  return (work) => {
    begin.run();
    try {
      onBegin();
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
