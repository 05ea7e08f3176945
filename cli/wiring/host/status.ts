import { openDatabase } from "../../../lib/platform/database/pool.ts";
import { isRoot, wasRoot } from "../../../lib/platform/privileges.ts";
import type { Environment } from "../../../lib/platform/secrets/adapter.ts";
import type { CollectorPlace, StatusDependencies } from "../../../lib/status/run.ts";

/** How long each part may take, so that all of it ends within two seconds. */
const LIMIT_MS = 1_000;
/** For a connection: longer, because the end of the reading names what did not answer. */
const CONNECT_LIMIT_MS = 5_000;
/** For the database, or the command that gets its address: the end of the part names neither. */
const DATABASE_LIMIT_MS = 800;

/** What `opsctl status` looks with on this host; `collector` is what root read before it became the account. */
export function openStatusDependencies(
  env: Environment,
  collector: CollectorPlace | null,
): StatusDependencies {
  return {
    env,
    isPrivileged: isRoot() || wasRoot(),
    collector,
    limitMs: LIMIT_MS,
    databaseLimitMs: DATABASE_LIMIT_MS,
    nowMs: () => Date.now(),
    openDatabase: (url) =>
      openDatabase(url, {
        max: 1,
        applicationName: "opsctl status",
        connectLimitMs: CONNECT_LIMIT_MS,
        closeLimitMs: 100,
      }),
  };
}
