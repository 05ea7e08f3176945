/** What `opsctl status` looks with, on the host of doctor's tests. */
import { setTimeout as delay } from "node:timers/promises";
import { readTextEnd } from "../../../lib/platform/files/regular-file.ts";
import { findCollector } from "../../../lib/status/collector-place.ts";
import type { StatusDependencies } from "../../../lib/status/dependencies.ts";
import type { Host } from "../../doctor/support/host.ts";

/** The dependencies of a look at `host` by the service account; `more` are variables of its process. */
export async function statusDependencies(host: Host, more: object = {}): Promise<StatusDependencies> {
  const { openDatabase, env: own, paths } = host.dependencies;
  const { OPSCTL_SECRETS_DIR, WEBHOOK_ADMIN_PORT } = own;
  const env = { OPSCTL_ENV_DIR: host.path("etc"), OPSCTL_SECRETS_DIR, WEBHOOK_ADMIN_PORT, ...more };
  return {
    ...{ env, viewer: "service", procNet: paths.procNet, openDatabase, readTextEnd },
    collector: await findCollector(env),
    // The limit belongs to what hangs: nothing else may be late on a busy machine.
    ...{ limitMs: 20_000, secretCommandLimitMs: 1_000, nowMs: () => Date.now() },
    wait: (ms, signal) => delay(ms, undefined, { signal }).catch(() => {}),
  };
}
