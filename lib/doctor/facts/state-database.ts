import { aboutStateUrl } from "../../platform/config/about-url.ts";
import type { Database } from "../../platform/database/pool.ts";
import { OpsError } from "../../platform/errors.ts";
import type { Secret } from "../../platform/secrets/secret.ts";
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
  try {
    const database = await context.database(url);
    await checkEncoding(database.sql);
    return database;
  } catch (error) {
    throw error instanceof OpsError ? aboutStateUrl(error) : error;
  }
}
