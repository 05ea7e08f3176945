import { join } from "node:path";
import { LAST_PLAN_FILE, LAST_PLAN_MAX_BYTES } from "../alert-rules/last-plan.ts";
import { alertRulesHealth } from "../health/alert-rules.ts";
import { collectorHealth } from "../health/collector.ts";
import { fail, type Health, pass } from "../health/result.ts";
import { socketMonitorHealth } from "../health/socket-monitor.ts";
import { JOURNAL, NOT_ANSWERING, webhookHealth } from "../health/webhook.ts";
import { METRICS_FILE } from "../host/metrics-file-name.ts";
import { isSetUp, type PartName } from "../host/set-up.ts";
import { isListening } from "../host/tcp-port.ts";
import { logDirectory } from "../platform/config/directories.ts";
import { SETTINGS } from "../platform/config/settings-table.ts";
import { SOCKET_LOG_FILE } from "../sockets/readings.ts";
import { readServiceHealth } from "../webhook/http/service-health.ts";
import { webhookPorts } from "../webhook/ports.ts";
import type { StatusDependencies, Viewer } from "./dependencies.ts";
import { LATE, NO_LOG_DIR, NOT_SET_UP, onlyHealth, settingsOf, unreadable } from "./part.ts";
import { readFileInTime, readInTime } from "./reading.ts";
import { weeklyStatus } from "./weekly.ts";

const METRICS_MAX_BYTES = 1_048_576;
const SOCKET_TAIL_BYTES = 4_096;

/** How the health of each part is read, each reading within its own time. */
export const READ: Record<PartName, (dependencies: StatusDependencies) => Promise<Health>> = {
  weekly: weeklyStatus,
  webhook: webhookStatus,
  collector: collectorStatus,
  "socket-monitor": (dependencies) =>
    logStatus("socket-monitor", dependencies, {
      ...{ name: SOCKET_LOG_FILE, what: "its log", maxBytes: SOCKET_TAIL_BYTES },
      judge: socketMonitorHealth,
    }),
  // Grafana is not called.
  "alert-rules": (dependencies) =>
    logStatus("alert-rules", dependencies, {
      ...{ name: LAST_PLAN_FILE, what: "the result of the last plan", maxBytes: LAST_PLAN_MAX_BYTES },
      judge: alertRulesHealth,
    }),
};

/** A file in the log directory, by which the health of a part is judged; null is a file that is not there. */
type LogFile = {
  name: string;
  what: string;
  maxBytes: number;
  judge(text: string | null, nowMs: number): Health;
};

async function logStatus(
  part: "socket-monitor" | "alert-rules",
  dependencies: StatusDependencies,
  { name, what, maxBytes, judge }: LogFile,
): Promise<Health> {
  const { viewer } = dependencies;
  const settings = settingsOf(part, dependencies);
  if (settings.status === "failed") return unreadable("its settings", settings.code, viewer);
  const logDir = await logDirectory(settings.env);
  if (logDir === null) return onlyHealth(NO_LOG_DIR);
  const read = await readFileInTime(dependencies, join(logDir, name), maxBytes);
  if (read.status === "late") return onlyHealth(LATE);
  if (read.status === "failed") return unreadable(what, read.code, viewer);
  if (read.value === null && !isSetUp(part, settings.env)) return NOT_SET_UP;
  return judge(read.value, dependencies.nowMs());
}

async function collectorStatus(dependencies: StatusDependencies): Promise<Health> {
  const { collector, viewer } = dependencies;
  const path = join(textfileDirOf(dependencies), METRICS_FILE);
  const read = await readFileInTime(dependencies, path, METRICS_MAX_BYTES);
  if (read.status === "late") return onlyHealth(LATE);
  if (read.status === "failed") return unreadable("the metrics file", read.code, viewer);
  if (read.value === null && collector.status === "unreadable")
    return unreadable(
      "its settings, which say where it writes,",
      collector.code,
      ownerOf(collector.code, viewer),
    );
  if (read.value === null && collector.status === "found" && !collector.isSetUp) return NOT_SET_UP;
  return collectorHealth(read.value, dependencies.nowMs());
}

/** The settings are root's: closed to the service account they are as they should be. */
function ownerOf(code: string, viewer: Viewer): Viewer {
  return code === "SECRET_FILE_UNREADABLE" && viewer === "service" ? "other" : viewer;
}

/** Without the collector's own settings, which are root's, the socket monitor's name the same directory. */
function textfileDirOf({ collector, env }: StatusDependencies): string {
  if (collector.status === "found") return collector.textfileDir;
  const settings = settingsOf("socket-monitor", { env });
  const named = settings.status === "read" ? settings.env.TEXTFILE_DIR?.trim() : undefined;
  return named?.startsWith("/") ? named : SETTINGS.TEXTFILE_DIR.default;
}

/** The running service is called, which any account may do. */
async function webhookStatus(dependencies: StatusDependencies): Promise<Health> {
  const { limitMs, viewer } = dependencies;
  const settings = settingsOf("webhook", dependencies);
  // Who may not read them finds the installed ports.
  const { port, adminPort } = await webhookPorts(
    settings.status === "read" ? settings.env : dependencies.env,
  );
  // The limit of the call is the later one, also while this process waits for a processor, so that a port that hangs is
  // distinguished from one where nothing listens.
  const read = await readInTime(dependencies, (signal) =>
    readServiceHealth({ adminPort, limitMs: 6 * limitMs }, signal),
  );
  if (read.status === "late") return onlyHealth(fail("CHECK_TIMED_OUT", LATE.reason, JOURNAL));
  if (read.status === "read" && read.value !== null) return webhookHealth(read.value);
  if (settings.status === "failed")
    return unreadable("it does not run, and its settings", settings.code, viewer);
  if (!isSetUp("webhook", settings.env)) return NOT_SET_UP;
  if (adminPort === 0 && (await isListening(port, dependencies.procNet)) !== false)
    return { ...onlyHealth(pass(`port ${port} is open; ${ADMIN_PORT_OFF}`)), facts: { adminPort } };
  return onlyHealth(NOT_ANSWERING);
}

const ADMIN_PORT_OFF = "its admin port is off, so the service is not called";
