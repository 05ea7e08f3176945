/** What `opsctl status` looks with, on the host of doctor's tests. */
import type { StatusDependencies } from "../../../lib/status/run.ts";
import type { Host } from "../../doctor/support/host.ts";

/** The dependencies of a look at `host` by a process that may read everything; `more` are variables of its process. */
export function statusDependencies(host: Host, more: object = {}): StatusDependencies {
  const { openDatabase, env: own } = host.dependencies;
  const { OPSCTL_SECRETS_DIR, WEBHOOK_ADMIN_PORT } = own;
  const env = { OPSCTL_ENV_DIR: host.path("etc"), OPSCTL_SECRETS_DIR, WEBHOOK_ADMIN_PORT, ...more };
  return {
    ...{ env, isPrivileged: true, openDatabase },
    collector: null,
    // The limit belongs to what hangs: nothing else may be late on a busy machine.
    ...{ limitMs: 20_000, databaseLimitMs: 15_000, nowMs: () => Date.now() },
  };
}
