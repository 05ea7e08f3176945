import type { CollectConfig } from "../../../lib/metrics/config.ts";
import type { CollectDependencies } from "../../../lib/metrics/run.ts";
import { heartbeatSource } from "../../../lib/metrics/sources/heartbeat.ts";
import { hostingSource } from "../../../lib/metrics/sources/hosting.ts";
import { proxyMemorySource } from "../../../lib/metrics/sources/proxy-memory.ts";
import { socketsSource } from "../../../lib/metrics/sources/sockets.ts";
import { notReadByRoot, secretAdapter } from "../../../lib/platform/secrets/adapter.ts";
import type { CommandContext } from "../../framework/command.ts";
import { callLog } from "../call-log.ts";

/** How long each source may take; a run takes as long as its slowest source, and cron starts one every minute. */
const LIMITS_MS = { proxy_memory: 8_000, sockets: 8_000, hosting: 16_000, heartbeat: 8_000 };
const ENGINE_CALL_MS = 5_000;
const HOSTING_CALL_MS = 10_000;

/** Opens the sources that the collector reads. */
export function openCollectDependencies(
  { proxy, hosting, logDir }: CollectConfig,
  { log, env }: Pick<CommandContext, "log" | "env">,
): CollectDependencies {
  const onCall = callLog(log);
  return {
    sources: {
      proxy_memory: proxyMemorySource({ ...proxy, timeoutMs: ENGINE_CALL_MS, onCall }),
      sockets: socketsSource(),
      hosting: hostingSource({
        baseUrl: new URL(hosting.apiUrl),
        teamId: hosting.teamId,
        findToken: () => secretAdapter(env)("HOSTING_TOKEN"),
        missingNote: () => notReadByRoot(env, "HOSTING_TOKEN"),
        timeoutMs: HOSTING_CALL_MS,
        onUnknownState: (state) =>
          log.warn("The hosting provider shows an unknown deployment state", { state }),
        onTotal(projects) {
          if (projects !== hosting.projects)
            log.warn("The hosting account has another number of projects than HOSTING_PROJECTS says", {
              projects,
              expected: hosting.projects,
            });
        },
        onCall,
      }),
      heartbeat: heartbeatSource(logDir),
    },
    limitsMs: LIMITS_MS,
    nowMs: Date.now,
    monotonicMs: () => performance.now(),
  };
}
