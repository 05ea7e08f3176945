import type { Database } from "../../platform/database/pool.ts";
import type { Secret } from "../../platform/secrets/secret.ts";
import { STATE_URL } from "../../webhook/state/postgres/opener.ts";
import { checkEncoding } from "../../webhook/state/postgres/schema.ts";
import type { CheckContext } from "../context/check-context.ts";

/**
 * Opens the database that several webhooks share.
 *
 * Behaviour: doctor opens it also while the service runs: a running service may be an older program, which accepted
 *            what this one refuses.
 * Errors:    those of `openDatabase`, about OPSCTL_STATE_URL, and of `checkEncoding`.
 */
export async function stateDatabase(context: CheckContext, url: Secret): Promise<Database> {
  const database = await context.database(url, STATE_URL);
  await checkEncoding(database.sql);
  return database;
}
