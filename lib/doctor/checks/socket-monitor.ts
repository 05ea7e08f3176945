import { stateDirectoryOf } from "../../platform/config/directories.ts";
import type { Check } from "../context.ts";
import { privateResult, socketTableCheck, writableResult } from "./host.ts";
import { alertGatewayCheck } from "./senders.ts";
import { checkWithSettings } from "./settings.ts";
import { statusCheck } from "./status.ts";

const of = "socket-monitor";

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
      return [await writableResult(of, settings.OPSCTL_LOG_DIR, "0755"), await privateResult(of, stateDir)];
    },
  ),
  statusCheck(of),
];
