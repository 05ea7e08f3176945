import type postgres from "postgres";

/**
 * Lifts the time limits that the login or the server sets for statements and transactions, for this transaction alone.
 *
 * Source: PostgreSQL documentation, Client Connection Defaults: `transaction_timeout` exists since version 17, so only
 *         the settings that this server knows are changed.
 */
export async function liftSessionLimits(tx: postgres.TransactionSql): Promise<void> {
  await tx.unsafe(
    `select set_config(name, '0', true) from pg_catalog.pg_settings
     where name in ('statement_timeout', 'transaction_timeout', 'idle_in_transaction_session_timeout')`,
  );
}
