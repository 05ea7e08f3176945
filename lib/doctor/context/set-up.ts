import { stat } from "node:fs/promises";
import { join } from "node:path";
import { LAST_PLAN_FILE } from "../../alert-rules/last-plan.ts";
import { METRICS_FILE } from "../../host/metrics-file-name.ts";
import { isSetUp, type PartName } from "../../host/set-up.ts";
import { hasWorked } from "../../last-run/has-worked.ts";
import { readLastRun } from "../../last-run/read.ts";
import { logDirectory } from "../../platform/config/directories.ts";
import { PART_OF, SETTINGS } from "../../platform/config/settings-table.ts";
import type { Environment } from "../../platform/secrets/adapter.ts";
import { SOCKET_LOG_FILE } from "../../sockets/readings.ts";
import { readServiceHealth } from "../../webhook/http/service-health.ts";
import { type CheckResult, type CommandName, command, notSetUp } from "../finding.ts";
import type { CheckContext } from "./check-context.ts";

/**
 * What a check says where the command's part is not set up on this host: the first check of the command says so, as
 * `opsctl status` does, and the others find nothing.
 */
export function leftOut(of: CommandName, isFirst: boolean): CheckResult[] {
  if (!isFirst) return [];
  return [notSetUp("this host does not use it", command(`opsctl doctor ${of}`, "What it needs:"))];
}

/**
 * Whether the command's part is set up: one of its settings is there, or it has left a file or answers.
 *
 * Behaviour: settings that cannot be read count as set up, because their fault is a finding.
 */
export function isCommandSetUp(
  command: CommandName,
  context: CheckContext,
  signal: AbortSignal,
): Promise<boolean> {
  return context.once(`set up ${command}`, async () => {
    const { env, file } = await context.environment(command);
    if (file.problem !== null) return true;
    const part = PART_OF[command];
    // What may hang is asked last, and only where the settings say nothing.
    if (isSetUp(part, env)) return true;
    return await HAS_WORKED[part]({ command, env, context, signal });
  });
}

type Question = { command: CommandName; env: Environment; context: CheckContext; signal: AbortSignal };

/** What shows without the settings that a part works. */
const HAS_WORKED: Record<PartName, (question: Question) => Promise<boolean>> = {
  async weekly({ command, env, context }) {
    if (command === "migrate" && context.dependencies.rootsLogin !== null) return true;
    const secrets = await context.secrets(command);
    const database = secrets.find(({ name }) => name === "DATABASE_URL");
    if (database?.found != null || database?.error != null) return true;
    const logDir = await logDirectory(env);
    return logDir === null || hasWorked(readLastRun(logDir));
  },
  async webhook({ context, signal }) {
    const { adminPort } = await context.webhookPorts();
    const { limitMs } = context.dependencies;
    return (await readServiceHealth({ adminPort, limitMs }, signal)) !== null;
  },
  collector: ({ env }) =>
    isThere(join(env.TEXTFILE_DIR?.trim() || SETTINGS.TEXTFILE_DIR.default, METRICS_FILE)),
  "socket-monitor": ({ env }) => isInLogs(SOCKET_LOG_FILE, env),
  "alert-rules": ({ env }) => isInLogs(LAST_PLAN_FILE, env),
};

/** A log directory that is no path counts: its fault is a finding. */
async function isInLogs(name: string, env: Environment): Promise<boolean> {
  const directory = await logDirectory(env);
  return directory === null || (await isThere(join(directory, name)));
}

/** What cannot be looked at counts, too. */
async function isThere(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    ({ code }: NodeJS.ErrnoException) => code !== "ENOENT" && code !== "ENOTDIR",
  );
}
