import type postgres from "postgres";
import { classifyDatabaseError } from "./error.ts";

type Work = (tx: postgres.TransactionSql) => unknown;

/** What a statement fails with when its connection is gone. */
const GONE: ReadonlySet<string> = new Set(["DATABASE_LOST", "DATABASE_UNREACHABLE", "DATABASE_READ_ONLY"]);

/**
 * The driver's `begin`, which fails at once with the loss that its work failed with.
 *
 * Behaviour: the driver first waits for its rollback. Where a statement with parameters was under way when the
 *            connection broke, it never sends that (3.4.9), and the transaction would neither end nor fail.
 */
export function failingWithItsConnection(begin: postgres.Sql["begin"]): postgres.Sql["begin"] {
  const ours = (...args: [...string[], Work]) =>
    new Promise((resolve, reject) => {
      const work = args.pop() as Work;
      const watched: Work = (tx) => {
        const result = work(tx);
        Promise.resolve(result).catch((error: unknown) => {
          if (GONE.has(classifyDatabaseError(error).code)) reject(error);
        });
        return result;
      };
      Reflect.apply(begin, undefined, [...args, watched]).then(resolve, reject);
    });
  return ours as postgres.Sql["begin"];
}
