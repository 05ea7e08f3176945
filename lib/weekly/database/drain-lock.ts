import type postgres from "postgres";
import { liftSessionLimits } from "../../platform/database/session-limits.ts";

/**
 * Runs `drain` while this process holds the drain's lock, of which there is one for all hosts.
 *
 * Shape:     the result of `drain`, or `busy` at once when another process holds the lock.
 * Behaviour: the lock belongs to a transaction on a connection of its own; `confirm` fails once it is lost. A server
 *            that is read-only gives no lock: a replica has locks of its own, which do not hold on the primary.
 */
export async function withDrainLock<T>(
  sql: postgres.Sql,
  drain: (confirm: () => Promise<void>) => Promise<T>,
): Promise<T | "busy"> {
  return (await sql.begin(async (tx) => {
    // The transaction only holds the lock, for as long as the route's calls take.
    await liftSessionLimits(tx);
    const [row] = await tx`
      select current_setting('transaction_read_only') = 'on' as read_only,
             pg_try_advisory_xact_lock(hashtextextended('opsctl.social_editorials', 0)) as locked`;
    // The refusal that a write would get, which ends this connection, too.
    if (row!.read_only)
      await tx.unsafe("do $$ begin raise sqlstate '25006' using message = 'read_only'; end $$");
    if (!row!.locked) return "busy";
    return await drain(async () => {
      await tx`select 1`;
    });
  })) as T | "busy";
}
