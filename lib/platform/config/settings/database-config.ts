import type { Environment } from "../../secrets/adapter.ts";
import type { Secret } from "../../secrets/secret.ts";
import { loadConfig, postgresUrl, requiredSecret } from "../config.ts";

/**
 * The only setting of a command that needs just the database.
 *
 * Errors: CONFIG_INVALID.
 */
export async function loadDatabaseUrl(env: Environment): Promise<Secret> {
  const { DATABASE_URL } = await loadConfig({ DATABASE_URL: requiredSecret(postgresUrl) }, env);
  return DATABASE_URL;
}
