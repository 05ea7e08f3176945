import type { Log } from "../../lib/platform/log/log.ts";
import type { StateConfig } from "../../lib/webhook/config.ts";
import type { OutboxLimits, State } from "../../lib/webhook/state/contract.ts";

/**
 * Opens the webhook's state: the file of a state directory, or a shared database.
 *
 * Errors: STATE_UNAVAILABLE, and those of `openDatabase`.
 */
export async function openState(
  config: StateConfig,
  log: Log,
  applicationName: string,
  limits?: OutboxLimits,
): Promise<State> {
  const common = { log, ...(limits === undefined ? {} : { limits }) };
  if ("url" in config) {
    const { openPostgresState } = await import("../../lib/webhook/state/postgres/state.ts");
    return await openPostgresState({ url: config.url, applicationName, ...common });
  }
  const { openSqliteState } = await import("../../lib/webhook/state/sqlite/state.ts");
  return await openSqliteState({ directory: config.directory, nowMs: Date.now, ...common });
}
