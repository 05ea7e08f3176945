import type postgres from "postgres";
import type { CommandContext } from "../../framework/command.ts";
import type { Outcome } from "../../framework/outcome.ts";

/**
 * Opens the database of DATABASE_URL for a command that reads or changes the ledger, and closes it when `use` has
 * ended.
 *
 * Errors: those of `loadDatabaseUrl`, `openDatabase` and `use`.
 */
export async function withLedgerDatabase(
  { env }: Pick<CommandContext, "env">,
  applicationName: string,
  use: (sql: postgres.Sql) => Promise<Outcome>,
): Promise<Outcome> {
  const { loadDatabaseUrl } = await import("../../../lib/platform/config/settings/database-config.ts");
  const url = await loadDatabaseUrl(env);
  const { openDatabase } = await import("../../../lib/platform/database/pool.ts");
  const database = await openDatabase(url, { max: 1, applicationName });
  try {
    return await use(database.sql);
  } finally {
    await database.close();
  }
}
