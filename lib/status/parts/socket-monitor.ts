import { join } from "node:path";
import { readWebhookEnv, webhookEnvPath } from "../../host/webhook-env.ts";
import { logDirectory } from "../../platform/config/log-directory.ts";
import { OpsError } from "../../platform/errors.ts";
import type { Environment } from "../../platform/secrets/adapter.ts";
import { lastReadings, STALE_READINGS_MS } from "../../sockets/last-readings.ts";
import { SOCKET_LOG_FILE } from "../../sockets/log-line.ts";
import { SOCKET_THRESHOLD } from "../../sockets/threshold.ts";
import { isToCome } from "../../time/to-come.ts";
import { ageText } from "../age-text.ts";
import type { StatusDependencies } from "../dependencies.ts";
import { attention, late, NOT_SET_UP, ok, type PartReport } from "../part.ts";
import { hasAny, settingsOf, unreadable } from "../part-settings.ts";
import { readFileInTime } from "../reading.ts";

const command = "socket-monitor";
const TAIL_BYTES = 4_096;
const DOCTOR = `sudo opsctl doctor ${command}`;
/** With one of these the monitor can send, so it is meant to run. */
const SET_UP_BY = ["MESSAGING_API_URL", "MESSAGING_PHONE"];

/** When the socket monitor last wrote its line, and what it counted. */
export async function socketMonitorStatus(dependencies: StatusDependencies): Promise<PartReport> {
  const { viewer } = dependencies;
  const settings = settingsOf(command, dependencies);
  if (settings.status === "failed") return unreadable("its settings", settings.code, viewer, command);
  const logDir = await logDirectory(settings.env);
  if (logDir === null) return attention(["OPSCTL_LOG_DIR is no absolute path"], DOCTOR);
  const read = await readFileInTime(dependencies, join(logDir, SOCKET_LOG_FILE), TAIL_BYTES);
  if (read.status === "late") return late(DOCTOR);
  if (read.status === "failed") return unreadable("its log", read.code, viewer, command);
  if (read.value !== null) return judgeReadings(read.value, dependencies.nowMs());
  return isMeantToRun(settings.env) ? attention(["has not run yet"], DOCTOR) : NOT_SET_UP;
}

function isMeantToRun(env: Environment): boolean {
  try {
    const path = webhookEnvPath(env.OPSCTL_WEBHOOK_ENV_FILE?.trim() || undefined, env);
    return hasAny(
      { ...env, ...Object.fromEntries(readWebhookEnv(path, { reader: "opsctl status" })) },
      SET_UP_BY,
    );
  } catch (error) {
    // The webhook's part says that its file cannot be read.
    if (error instanceof OpsError) return true;
    throw error;
  }
}

/** The report over the end of the monitor's log. */
export function judgeReadings(text: string, nowMs: number): PartReport {
  const last = lastReadings(text);
  if (last === null) return attention(["the last line of its log cannot be read"], DOCTOR);
  const { timeMs, total } = last;
  const facts = { ageSeconds: Math.max(0, Math.round((nowMs - timeMs) / 1000)), total };
  const counted = total === null ? "the sockets could not be counted" : `${total} TCP sockets`;
  const ageMs = nowMs - timeMs;
  const isStale = ageMs > STALE_READINGS_MS;
  const due = isStale ? " (one is due every five minutes)" : "";
  const lines = [`last run ${ageText(ageMs)}${due}, ${counted}`];
  if (isStale || isToCome(ageMs) || total === null) return attention(lines, DOCTOR, facts);
  if (total <= SOCKET_THRESHOLD) return ok(lines, facts);
  return attention([`${lines[0]}, more than ${SOCKET_THRESHOLD}`], "ss -s", facts);
}
