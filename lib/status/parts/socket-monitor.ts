import { join } from "node:path";
import { logDirectory } from "../../platform/config/directories.ts";
import { lastReadings, STALE_READINGS_MS } from "../../sockets/last-readings.ts";
import { SOCKET_LOG_FILE } from "../../sockets/log-line.ts";
import { isToCome } from "../../time/to-come.ts";
import { ageText } from "../age-text.ts";
import type { StatusDependencies } from "../dependencies.ts";
import { attention, late, NOT_SET_UP, ok, type PartReport } from "../part.ts";
import { isMeantToWork, settingsOf, unreadable } from "../part-settings.ts";
import { readFileInTime } from "../reading.ts";

const command = "socket-monitor";
const TAIL_BYTES = 4_096;
const DOCTOR = `sudo opsctl doctor ${command}`;

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
  return isMeantToWork(command, settings.env) ? attention(["has not run yet"], DOCTOR) : NOT_SET_UP;
}

/** The report over the end of the monitor's log. */
export function judgeReadings(text: string, nowMs: number): PartReport {
  const last = lastReadings(text);
  if (last === null) return attention(["the last line of its log cannot be read"], DOCTOR);
  const { timeMs, total, threshold } = last;
  const facts = { ageSeconds: Math.max(0, Math.round((nowMs - timeMs) / 1000)), total, threshold };
  const counted = total === null ? "the sockets could not be counted" : `${total} TCP sockets`;
  const ageMs = nowMs - timeMs;
  const isStale = ageMs > STALE_READINGS_MS;
  const due = isStale ? " (one is due every five minutes)" : "";
  const lines = [`last run ${ageText(ageMs)}${due}, ${counted}`];
  if (isStale || isToCome(ageMs) || total === null) return attention(lines, DOCTOR, facts);
  if (threshold === null || total <= threshold) return ok(lines, facts);
  return attention([`${lines[0]}, more than ${threshold}`], "ss -s", facts);
}
