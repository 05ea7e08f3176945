import { stat } from "node:fs/promises";
import { join } from "node:path";
import { socketMonitorHealth } from "../../health/socket-monitor.ts";
import { stateDirectoryOf } from "../../platform/config/directories.ts";
import { webhookSettingsPath } from "../../platform/config/webhook-settings.ts";
import { OPEN_TO_OTHERS, octal } from "../../platform/files/modes.ts";
import { readTextEnd } from "../../platform/files/read-text.ts";
import { SOCKET_LOG_FILE } from "../../sockets/readings.ts";
import type { Check } from "../context/check.ts";
import type { CheckContext } from "../context/check-context.ts";
import { accessOf, fixAt, openingFix } from "../facts/access.ts";
import { closedVerdict, isReader, unseenVerdict } from "../facts/reader.ts";
import { fail, pass, type Verdict, warn } from "../finding.ts";
import { privateVerdict, writableVerdict } from "./host/directory.ts";
import { socketTableCheck } from "./host/socket-table.ts";
import { alertGatewayCheck } from "./peers/gateway.ts";
import { checkWithSettings } from "./settings/configuration.ts";

const of = "socket-monitor";
const WEBHOOK_FILE = "/etc/opsctl/webhook.env";
const INSTALLED = [WEBHOOK_FILE];
const TAIL_BYTES = 4_096;

/** What the socket monitor needs: the webhook's environment file, its directories, its peers, a recent run. */
export const SOCKET_CHECKS: readonly Check[] = [
  {
    command: of,
    name: "webhook's environment file",
    async run(context) {
      const { env } = await context.environment(of);
      return [await sharedFileVerdict(context, webhookSettingsPath(env) ?? WEBHOOK_FILE)];
    },
  },
  alertGatewayCheck(of),
  socketTableCheck(of),
  checkWithSettings(
    { command: of, name: "directories" },
    { optional: ["OPSCTL_LOG_DIR", "OPSCTL_STATE_DIR"] },
    async (settings, context) => {
      const { env } = await context.environment(of);
      const stateDir = stateDirectoryOf(settings.OPSCTL_STATE_DIR, env);
      return [
        await writableVerdict(of, context, settings.OPSCTL_LOG_DIR, "0755"),
        await privateVerdict(of, context, stateDir),
      ];
    },
  ),
  checkWithSettings(
    { command: of, name: "last run" },
    { optional: ["OPSCTL_LOG_DIR"] },
    (settings, context) => lastRunVerdicts(join(settings.OPSCTL_LOG_DIR, SOCKET_LOG_FILE), context),
  ),
];

async function sharedFileVerdict(context: CheckContext, path: string): Promise<Verdict> {
  const access = await accessOf(path, "read");
  if (access.status !== "allowed" && access.why === "missing")
    return warn(
      "ENV_FILE_MISSING",
      `${path} does not exist`,
      fixAt(
        path,
        INSTALLED,
        "Create it for opsctl with mode 0600, then fill it in",
        (installed) => `install -D -m 0600 -o opsctl -g opsctl /dev/null ${installed}`,
      ),
    );
  if (access.status !== "allowed" && !(await isReader(of, context)))
    return closedVerdict(access.text, of, context);
  if (access.status !== "allowed" && access.why === "unseen")
    return await unseenVerdict(access.at, access.error, of, context);
  if (access.status !== "allowed")
    return fail("SECRET_FILE_UNREADABLE", access.text, openingFix(access, path, "opsctl:opsctl"));
  const stats = await stat(path);
  if (!stats.isFile())
    return fail("SECRET_FILE_UNREADABLE", `${path} is no regular file`, "Move away what is there");
  const { mode } = stats;
  if ((mode & OPEN_TO_OTHERS) !== 0)
    return fail(
      "SECRET_FILE_EXPOSED",
      `${path} has mode ${octal(mode)}, open to group or others`,
      fixAt(path, INSTALLED, "Close it to group and others", (installed) => `chmod 0600 ${installed}`),
    );
  return pass(`${path} has mode ${octal(mode)} and can be read`);
}

async function lastRunVerdicts(path: string, context: CheckContext): Promise<Verdict[]> {
  const health = (text: string | null) =>
    socketMonitorHealth(text, context.dependencies.nowMs()).lines.flat();
  try {
    return health(await readTextEnd(path, TAIL_BYTES));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return health(null);
    return [await unseenVerdict(path, error, of, context)];
  }
}
