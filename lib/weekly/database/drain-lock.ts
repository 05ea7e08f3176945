import type postgres from "postgres";

/**
 * Runs `drain` while this process holds the drain's lock, of which there is one for all hosts.
 *
 * Shape:     the result of `drain`, or `busy` at once when another process holds the lock.
 * Behaviour: the lock belongs to a transaction on a connection of its own; `confirm` fails once it is lost.
 */
export async function withDrainLock<T>(
  sql: postgres.Sql,
  drain: (confirm: () => Promise<void>) => Promise<T>,
): Promise<T | "busy"> {
  return (await sql.begin(async (tx) => {
    // The transaction only holds the lock, for as long as the route's calls take.
    await tx`set local idle_in_transaction_session_timeout = 0`;
    const [row] = await tx`
      select pg_try_advisory_xact_lock(hashtextextended('opsctl.social_editorials', 0)) as locked`;
    if (!row!.locked) return "busy";
    return await drain(async () => {
      await tx`select 1`;
    });
  })) as T | "busy";
}
