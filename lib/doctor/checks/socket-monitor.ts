import { join } from "node:path";
import { socketMonitorHealth } from "../../health/socket-monitor.ts";
import { stateDirectoryOf } from "../../platform/config/directories.ts";
import { readTextEnd } from "../../platform/files/regular-file.ts";
import { SOCKET_LOG_FILE } from "../../sockets/readings.ts";
import type { Check } from "../context/check.ts";
import type { CheckContext } from "../context/check-context.ts";
import { unseenResult } from "../facts/reader.ts";
import type { CheckResult } from "../finding.ts";
import { privateResult, writableResult } from "./host/directory.ts";
import { socketTableCheck } from "./host/socket-table.ts";
import { alertGatewayCheck } from "./services/gateway.ts";
import { checkWithSettings } from "./settings/configuration.ts";

const of = "socket-monitor";
const TAIL_BYTES = 4_096;

/** What the socket monitor needs: the services that it calls, its directories, a recent run. */
export const SOCKET_CHECKS: readonly Check[] = [
  alertGatewayCheck(of),
  socketTableCheck(of),
  checkWithSettings(
    { command: of, name: "directories" },
    { optional: ["OPSCTL_LOG_DIR", "OPSCTL_STATE_DIR"] },
    async (settings, context) => {
      const { env } = await context.environment(of);
      const stateDir = stateDirectoryOf(settings.OPSCTL_STATE_DIR, env);
      return [
        await writableResult(of, context, settings.OPSCTL_LOG_DIR, "0755"),
        await privateResult(of, context, stateDir),
      ];
    },
  ),
  checkWithSettings(
    { command: of, name: "last run" },
    { optional: ["OPSCTL_LOG_DIR"] },
    (settings, context) => lastRunResults(join(settings.OPSCTL_LOG_DIR, SOCKET_LOG_FILE), context),
  ),
];

async function lastRunResults(path: string, context: CheckContext): Promise<CheckResult[]> {
  const health = (text: string | null) =>
    socketMonitorHealth(text, context.dependencies.nowMs()).lines.flat();
  try {
    return health(await readTextEnd(path, TAIL_BYTES));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return health(null);
    return [await unseenResult(path, error, of, context)];
  }
}
