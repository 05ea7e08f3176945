import { hostname } from "node:os";
import { join } from "node:path";
import { countSockets } from "../../../lib/host/count-sockets.ts";
import { METRICS_FILE } from "../../../lib/host/metric-names.ts";
import { stateDirectoryOf } from "../../../lib/platform/config/directories.ts";
import { evolutionClient } from "../../../lib/providers/evolution/client.ts";
import { resolveInstance } from "../../../lib/providers/evolution/instance.ts";
import type { SocketMonitorConfig } from "../../../lib/sockets/config.ts";
import { readLoadAverage, readProxyMemory } from "../../../lib/sockets/host-values.ts";
import { appendReadings } from "../../../lib/sockets/readings.ts";
import type { SocketMonitorDependencies } from "../../../lib/sockets/run.ts";
import type { CommandContext } from "../../framework/command.ts";
import { callLog } from "../call-log.ts";

const LISTING_LIMIT_MS = 10_000;
/** Together with the listing's, well below two minutes. */
const MESSAGE_LIMIT_MS = 95_000;

/** Opens what the socket monitor uses; the dedup and the gateway only when they are needed. */
export function openSocketMonitorDependencies(
  config: SocketMonitorConfig,
  { env, log }: Pick<CommandContext, "env" | "log">,
): SocketMonitorDependencies {
  const { MESSAGING_API_KEY: adminKey, MESSAGING_PHONE: phone } = config;
  const baseUrl = new URL(config.MESSAGING_API_URL);
  const gateway = evolutionClient({ baseUrl, adminKey, onCall: callLog(log) });
  const findInstance = resolveInstance({ gateway, configured: config.MESSAGING_INSTANCE ?? null });
  return {
    countSockets: () => countSockets({ signal: AbortSignal.timeout(LISTING_LIMIT_MS) }),
    readLoadAverage,
    readProxyMemory: () => readProxyMemory(join(config.TEXTFILE_DIR, METRICS_FILE), Date.now()),
    async openDedup() {
      const { openSqliteDedup } = await import("../../../lib/webhook/store/sqlite/store.ts");
      const directory = stateDirectoryOf(config.OPSCTL_STATE_DIR, env);
      return await openSqliteDedup({ directory, nowMs: Date.now, log });
    },
    messenger: { gateway, findInstance, phone, limitMs: MESSAGE_LIMIT_MS },
    appendReadings: (readings) => appendReadings(config.OPSCTL_LOG_DIR, readings),
    host: hostname(),
    nowMs: Date.now,
  };
}
