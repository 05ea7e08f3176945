import type { Environment } from "../secrets/adapter.ts";
import type { Secret } from "../secrets/secret.ts";
import { loadConfig, postgresUrl, requiredSecret } from "./config.ts";

/**
 * The one setting of a command that needs nothing but the database.
 *
 * Errors: CONFIG_INVALID.
 */
export async function loadDatabaseUrl(env: Environment): Promise<Secret> {
  const { DATABASE_URL } = await loadConfig({ DATABASE_URL: requiredSecret(postgresUrl) }, env);
  return DATABASE_URL;
}
