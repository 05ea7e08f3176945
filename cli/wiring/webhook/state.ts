import type { Log } from "../../../lib/platform/log/log.ts";
import type { StateConfig } from "../../../lib/webhook/config.ts";
import { OUTBOX_LIMITS, type OutboxLimits } from "../../../lib/webhook/store/model.ts";
import type { State } from "../../../lib/webhook/store/outbox.ts";
import { outboxOn } from "../../../lib/webhook/store/outbox.ts";
import type { Store } from "../../../lib/webhook/store/sql.ts";
import type { ReserveSize } from "../../../lib/webhook/store/sqlite/reserve.ts";
import type { CommandContext, Outcome } from "../../framework/command.ts";

/** Conditions of a service's store; `storeLimitMs` is how long one call may wait for a database. */
export type StoreConditions = { nowMs: () => number; reserve: ReserveSize; storeLimitMs?: number };

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
  {
    limits = OUTBOX_LIMITS,
    comments = false,
    service,
  }: { limits?: OutboxLimits; comments?: boolean; service?: StoreConditions } = {},
): Promise<State> {
  const mayBeUnavailable = service !== undefined;
  return outboxOn(await openStore(), { limits, comments, log });

  async function openStore(): Promise<Store> {
    if ("directory" in config) {
      const { openSqliteStore } = await import("../../../lib/webhook/store/sqlite/store.ts");
      return await openSqliteStore({ ...{ nowMs: Date.now, ...service, ...config }, log, mayBeUnavailable });
    }
    const { openPostgresStore } = await import("../../../lib/webhook/store/postgres/store.ts");
    const limit = service?.storeLimitMs === undefined ? {} : { answerLimitMs: service.storeLimitMs };
    return await openPostgresStore({ ...{ ...config, ...limit }, log, applicationName, mayBeUnavailable });
  }
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
