import { aboutStateUrl } from "../../platform/config/about-state-url.ts";
import type { Database } from "../../platform/database/pool.ts";
import { OpsError } from "../../platform/errors.ts";
import type { Secret } from "../../platform/secrets/secret.ts";
import type { CheckContext } from "../context/check-context.ts";

/**
 * The database that several webhooks share, opened by this program.
 *
 * Behaviour: a service that runs is no proof: it may be an older program, which took what this one refuses.
 * Errors:    those of `openDatabase`, about OPSCTL_STATE_URL.
 */
export async function stateDatabase(context: CheckContext, url: Secret): Promise<Database> {
  try {
    return await context.database(url);
  } catch (error) {
    throw error instanceof OpsError ? aboutStateUrl(error) : error;
  }
}
