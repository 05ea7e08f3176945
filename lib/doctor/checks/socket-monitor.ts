import { stat } from "node:fs/promises";
import { join } from "node:path";
import { OPEN_TO_OTHERS, octal } from "../../platform/files/modes.ts";
import { readTextEnd } from "../../platform/files/read-text.ts";
import { loadSocketMonitorConfig, type SocketMonitorConfig } from "../../sockets/config.ts";
import { lastReadings, STALE_READINGS_MS } from "../../sockets/last-readings.ts";
import { SOCKET_LOG_FILE } from "../../sockets/log-line.ts";
import { isToCome } from "../../time/to-come.ts";
import type { Check } from "../context/check.ts";
import type { CheckContext, Settings } from "../context/check-context.ts";
import { accessOf, openingLine } from "../facts/access.ts";
import { unseenVerdict } from "../facts/reader.ts";
import { fail, pass, SET_CLOCK, type Verdict, warn } from "../finding.ts";
import { accountOf, privateVerdict, writableVerdict } from "./host/directory.ts";
import { socketTableCheck } from "./host/socket-table.ts";
import { alertGatewayCheck } from "./peers/gateway.ts";
import { checkWithSettings } from "./settings/configuration.ts";

const command = "socket-monitor";
const TAIL_BYTES = 4_096;

/** What the socket monitor needs: the webhook's environment file, its directories, its peers, a recent run. */
export const SOCKET_CHECKS: readonly Check[] = [
  {
    command,
    name: "webhook's environment file",
    async run(context) {
      const { env } = await context.environment(command);
      return [await sharedFileVerdict(context, env.OPSCTL_WEBHOOK_ENV_FILE ?? "/etc/opsctl/webhook.env")];
    },
  },
  alertGatewayCheck(command, settingsOf),
  socketTableCheck(command),
  checkWithSettings({ command, name: "directories" }, settingsOf, async (settings, context) => {
    const { logDir, stateDir } = settings;
    return [
      await writableVerdict(command, context, logDir, "0755"),
      await privateVerdict(command, context, stateDir),
    ];
  }),
  checkWithSettings({ command, name: "last run" }, settingsOf, async (settings, context) => {
    const path = join(settings.logDir, SOCKET_LOG_FILE);
    return [await lastRunVerdict(path, context)];
  }),
];

function settingsOf(context: CheckContext): Promise<Settings<SocketMonitorConfig>> {
  return context.settings(command, "all", loadSocketMonitorConfig);
}

async function sharedFileVerdict(context: CheckContext, path: string): Promise<Verdict> {
  const account = await accountOf(command, context);
  const access = await accessOf(path, account, "read");
  if (access.status !== "allowed" && access.why === "missing")
    return warn(
      "ENV_FILE_MISSING",
      `${path} does not exist`,
      `install -D -m 0600 -o opsctl -g opsctl /dev/null ${path} # then fill it in`,
    );
  if (access.status !== "allowed" && access.why === "hidden")
    return unseenVerdict(access.at, access.error, command, context);
  if (access.status !== "allowed")
    return fail("SECRET_FILE_UNREADABLE", access.text, openingLine(access, path, "opsctl:opsctl"));
  const { mode } = await stat(path);
  if ((mode & OPEN_TO_OTHERS) !== 0)
    return fail(
      "SECRET_FILE_EXPOSED",
      `${path} has mode ${octal(mode)}, open to group or others`,
      `chmod 0600 ${path}`,
    );
  return pass(`${path} has mode ${octal(mode)} and can be read by ${account.name}`);
}

async function lastRunVerdict(path: string, context: CheckContext): Promise<Verdict> {
  const nowMs = context.dependencies.nowMs();
  const mend = "grep opsctl /etc/cron.d/opsctl; systemctl status cron";
  try {
    const lastMs = lastReadings(await readTextEnd(path, TAIL_BYTES))?.timeMs ?? (await stat(path)).mtimeMs;
    const seconds = Math.round((nowMs - lastMs) / 1000);
    if (isToCome(nowMs - lastMs))
      return warn(
        "CLOCK_WRONG",
        `the last line of ${path} is of a time ${-seconds} s to come: a clock was wrong`,
        SET_CLOCK,
      );
    const reason = `the last line of ${path} is ${Math.max(0, seconds)} s old`;
    return nowMs - lastMs > STALE_READINGS_MS ? warn("LAST_RUN_STALE", reason, mend) : pass(reason);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT")
      return warn("LAST_RUN_MISSING", `${path} does not exist: the monitor has not run yet`, mend);
    return unseenVerdict(path, error, command, context);
  }
}
