import process from "node:process";
import { openDatabase } from "../../../lib/platform/database/pool.ts";
import { readTextEnd } from "../../../lib/platform/files/regular-file.ts";
import { findServiceAccount, isRoot, wasRoot } from "../../../lib/platform/privileges.ts";
import type { Environment } from "../../../lib/platform/secrets/adapter.ts";
import { pause } from "../../../lib/platform/timeout.ts";
import { type CollectorPlace, findCollector } from "../../../lib/status/collector-place.ts";
import type { StatusDependencies, Viewer } from "../../../lib/status/dependencies.ts";

/** How long each reading may take, so that all of it ends within two seconds. */
const LIMIT_MS = 1_000;
/** For a connection: longer, because the end of the reading names what did not answer. */
const CONNECT_LIMIT_MS = 5_000;
const SECRET_COMMAND_LIMIT_MS = 800;
const ACCOUNT_LIMIT_MS = 800;

/** What `opsctl status` looks with on this host; `collector` is what root read before it became the account. */
export async function openStatusDependencies(
  env: Environment,
  collector: CollectorPlace | null,
): Promise<StatusDependencies> {
  return {
    env,
    viewer: await viewer(),
    collector: collector ?? (await findCollector(env)),
    procNet: "/proc/net",
    limitMs: LIMIT_MS,
    secretCommandLimitMs: SECRET_COMMAND_LIMIT_MS,
    wait: pause,
    nowMs: () => Date.now(),
    openDatabase: (url) =>
      openDatabase(url, {
        max: 1,
        applicationName: "opsctl status",
        connectLimitMs: CONNECT_LIMIT_MS,
        closeLimitMs: 100,
      }),
    readTextEnd,
  };
}

/** Root is the viewer only where the host has no service account. */
async function viewer(): Promise<Viewer> {
  if (isRoot() || wasRoot()) return "service";
  const account = await findServiceAccount(ACCOUNT_LIMIT_MS).catch(() => undefined);
  return account?.uid === process.geteuid?.() ? "service" : "other";
}
