import { existsSync } from "node:fs";
import { join } from "node:path";
import { LAST_PLAN_FILE } from "../../alert-rules/last-plan.ts";
import { METRICS_FILE } from "../../host/metrics-file-name.ts";
import { isSetUp } from "../../host/set-up.ts";
import { hasWorked } from "../../last-run/has-worked.ts";
import { readLastRun } from "../../last-run/read.ts";
import { logDirectory } from "../../platform/config/directories.ts";
import { PART_OF, SETTINGS } from "../../platform/config/settings-table.ts";
import { SOCKET_LOG_FILE } from "../../sockets/readings.ts";
import { readServiceHealth } from "../../webhook/http/service-health.ts";
import type { CommandName } from "../finding.ts";
import type { CheckContext } from "./check-context.ts";

/**
 * Whether the command's part is set up: one of its settings is there, or it has left a file or answers.
 *
 * Behaviour: settings that cannot be read count as set up, because their fault is a finding.
 */
export function isCommandSetUp(
  of: CommandName,
  context: CheckContext,
  signal: AbortSignal,
): Promise<boolean> {
  return context.once(`set up ${of}`, async () => {
    const { env, file } = await context.environment(of);
    const part = PART_OF[of];
    if (file.problem !== null || isSetUp(part, env)) return true;
    const logDir = await logDirectory(env);
    if (logDir === null) return true;
    switch (part) {
      case "weekly":
        return (
          (of === "migrate" && context.dependencies.rootsLogin !== null) || hasWorked(readLastRun(logDir))
        );
      case "webhook": {
        const { adminPort } = await context.webhookPorts();
        const { callLimitMs: limitMs } = context.dependencies;
        return (await readServiceHealth({ adminPort, limitMs }, signal)) !== null;
      }
      case "collector":
        return existsSync(join(env.TEXTFILE_DIR?.trim() || SETTINGS.TEXTFILE_DIR.default, METRICS_FILE));
      case "socket-monitor":
        return existsSync(join(logDir, SOCKET_LOG_FILE));
      case "alert-rules":
        return existsSync(join(logDir, LAST_PLAN_FILE));
    }
  });
}
