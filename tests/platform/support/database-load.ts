/** What may be under way in a database when its connections fail. */
import type { Database } from "../../../lib/platform/database/pool.ts";
import { outcome } from "../../support/database-fault.ts";

/** In the first row that is read after the fault. */
export const ROW = "a row of the load";

/**
 * Opens a transaction on each connection, queues more behind them, lets `fault` happen and goes on in all of them.
 *
 * Shape: the outcomes of the transactions, and of what was queued: statements of each kind and transactions.
 */
export async function underFault(
  { sql, renew }: Database,
  connections: number,
  fault: () => unknown,
): Promise<{ transactions: string[]; queued: string[] }> {
  const happened = Promise.withResolvers<void>();
  const begun = Array.from({ length: connections }, () => Promise.withResolvers<void>());
  const transactions = begun.map((each, n) => {
    const ended = outcome(
      sql.begin(async (tx) => {
        await tx`select 1`;
        each.resolve();
        await happened.promise;
        // Some go on after a failure, as code does that has only looked whether something is there.
        const first = tx`select ${ROW}::text, ${n}::int`;
        const second = tx`select ${n}::text`;
        await (n % 2 === 0 ? first : first.catch(() => {}));
        await second;
        await tx.unsafe("select 2").catch(() => {});
        await tx`select ${n}::int`;
      }),
    );
    ended.then(() => each.resolve());
    return ended;
  });
  await Promise.all(begun.map(({ promise }) => promise));
  const queued = [1, 2].flatMap((n) => [
    outcome(sql`select 1`),
    outcome(sql`select ${n}::int`),
    outcome(sql.unsafe("select 3")),
    outcome(sql.begin(async (tx) => await tx`select ${n}::int`)),
  ]);
  // Until all of it stands in the driver's queue.
  await new Promise((resolve) => setImmediate(resolve));
  await fault();
  happened.resolve();
  renew();
  queued.push(outcome(sql`select ${4}::int`));
  return { transactions: await Promise.all(transactions), queued: await Promise.all(queued) };
}
