import type { Log } from "../../../lib/platform/log/log.ts";
import type { StateConfig } from "../../../lib/webhook/config.ts";
import type { OutboxLimits, State } from "../../../lib/webhook/state/contract.ts";
import type { ReserveSize } from "../../../lib/webhook/state/sqlite/reserve/reserve-size.ts";
import type { CommandContext, Outcome } from "../../framework/command.ts";

/** What a service's state depends on; `storeLimitMs` is how long one call may wait for a database. */
export type StateConditions = { nowMs: () => number; reserve: ReserveSize; storeLimitMs?: number };

/**
 * Opens the webhook's state: the file of a state directory, or a shared database.
 *
 * Shape:  `comments`: whether the end of an alert is commented on its issue. `service`: given for the service, which keeps
 *         space for a full disk in the file, and starts while the database is unavailable.
 * Errors: STATE_UNAVAILABLE, and those of `openDatabase`.
 */
export async function openState(
  config: StateConfig,
  log: Log,
  applicationName: string,
  options: { limits?: OutboxLimits; comments?: boolean; service?: StateConditions } = {},
): Promise<State> {
  const { service, ...common } = { log, ...options };
  if ("url" in config) {
    const { openPostgresState } = await import("../../../lib/webhook/state/postgres/state.ts");
    const limit = service?.storeLimitMs === undefined ? {} : { answerLimitMs: service.storeLimitMs };
    const mayBeAway = service !== undefined;
    return await openPostgresState({ url: config.url, applicationName, mayBeAway, ...common, ...limit });
  }
  const { openSqliteState } = await import("../../../lib/webhook/state/sqlite/state.ts");
  const { nowMs = Date.now, reserve } = service ?? {};
  const { directory } = config;
  return await openSqliteState({ directory, nowMs, ...common, ...(reserve && { reserve }) });
}

/** Opens the webhook's state for a command, and closes it when `use` has ended; errors as `openState`, CONFIG_INVALID. */
export async function withState(
  { env, log }: CommandContext,
  use: (state: State) => Promise<Outcome>,
): Promise<Outcome> {
  const { loadStateConfig } = await import("../../../lib/webhook/config.ts");
  const state = await openState(await loadStateConfig(env), log, "opsctl webhook");
  try {
    return await use(state);
  } finally {
    await state.close();
  }
}
