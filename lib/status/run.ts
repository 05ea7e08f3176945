import { isAbsolute } from "node:path";
import { PARTS, type PartName } from "../host/set-up.ts";
import { withDirectories } from "../platform/config/with-directories.ts";
import type { Environment } from "../platform/secrets/adapter.ts";
import type { StatusDependencies } from "./dependencies.ts";
import { attention, type NamedReport, type PartReport } from "./part.ts";
import { alertRulesStatus } from "./parts/alert-rules.ts";
import { collectorStatus } from "./parts/collector.ts";
import { socketMonitorStatus } from "./parts/socket-monitor.ts";
import { webhookStatus } from "./parts/webhook.ts";
import { weeklyStatus } from "./parts/weekly.ts";

const LOOK: Record<PartName, (dependencies: StatusDependencies) => Promise<PartReport>> = {
  weekly: weeklyStatus,
  webhook: webhookStatus,
  collector: collectorStatus,
  "socket-monitor": socketMonitorStatus,
  "alert-rules": alertRulesStatus,
};

const ENV_DIR_INVALID = "OPSCTL_ENV_DIR is no absolute path";
const MEND_ENV_DIR = "unset OPSCTL_ENV_DIR, or set it to an absolute path";

/** The command that says more about a part. */
const COMMAND: Record<PartName, string> = {
  ...{ weekly: "weekly", webhook: "webhook", collector: "collect-metrics" },
  ...{ "socket-monitor": "socket-monitor", "alert-rules": "alert-rules" },
};

/**
 * Looks at all parts of this host at the same time, each within its own limit.
 *
 * Errors: none thrown; a part that throws needs a person.
 */
export async function readStatus(dependencies: StatusDependencies): Promise<NamedReport[]> {
  return await Promise.all(
    PARTS.map(async (part) => ({ part, ...inEnvDir(await look(part, dependencies), dependencies.env) })),
  );
}

/** What comes next as root has to find the same settings. */
function inEnvDir(report: PartReport, env: Environment): PartReport {
  const { lines, next } = report;
  return {
    ...report,
    lines: lines.map((line) => withDirectories(line, env)),
    next: next === null ? null : withDirectories(next, env),
  };
}

/** Every command refuses it, and doctor as root would look elsewhere: sudo hands on no variable. */
function isEnvDirInvalid({ OPSCTL_ENV_DIR: directory = "" }: Environment): boolean {
  return directory.trim() !== "" && !isAbsolute(directory);
}

async function look(part: PartName, dependencies: StatusDependencies): Promise<PartReport> {
  try {
    if (isEnvDirInvalid(dependencies.env)) return attention([ENV_DIR_INVALID], MEND_ENV_DIR);
    return await LOOK[part](dependencies);
  } catch (error) {
    // The message of the engine or a library may quote data.
    const { name, code } = Object(error) as { name?: string; code?: unknown };
    const cause = typeof code === "string" ? code : (name ?? "unknown error");
    return attention([`looking at it broke off: ${cause}`], `sudo opsctl doctor ${COMMAND[part]}`);
  }
}

/** Whether all is well with what is set up, as far as it was seen. */
export function isAllWell(reports: readonly NamedReport[]): boolean {
  return reports.every(({ status }) => status === "ok" || status === "not_set_up");
}
