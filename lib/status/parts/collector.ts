import { join } from "node:path";
import { METRICS_FILE } from "../../host/metrics-file-name.ts";
import { failedSources, lastPassMs, STALE_PASS_MS } from "../../metrics/last-pass.ts";
import { SETTINGS } from "../../platform/config/settings-table.ts";
import { isToCome } from "../../time/to-come.ts";
import { ageText } from "../age-text.ts";
import type { StatusDependencies, Viewer } from "../dependencies.ts";
import { attention, late, NOT_SET_UP, ok, type PartReport } from "../part.ts";
import { settingsOf, unreadable } from "../part-settings.ts";
import { readFileInTime } from "../reading.ts";

const MAX_BYTES = 1_048_576;
const ITS_SETTINGS = "its settings, which say where it writes,";
const DOCTOR = "sudo opsctl doctor collect-metrics";

/** When the collector last made its pass, and what it could not read. */
export async function collectorStatus(dependencies: StatusDependencies): Promise<PartReport> {
  const { collector, viewer } = dependencies;
  const read = await readFileInTime(dependencies, join(directoryOf(dependencies), METRICS_FILE), MAX_BYTES);
  if (read.status === "late") return late(DOCTOR);
  if (read.status === "failed") return unreadable("the metrics file", read.code, viewer, "collect-metrics");
  if (read.value !== null) return judgePass(read.value, dependencies.nowMs());
  if (collector.status === "unreadable")
    return unreadable(ITS_SETTINGS, collector.code, ownerOf(collector.code, viewer), "collect-metrics");
  return collector.isSetUp ? attention(["has not made a pass yet"], DOCTOR) : NOT_SET_UP;
}

/** The settings are root's: closed to the service account they are as they should be. */
function ownerOf(code: string, viewer: Viewer): Viewer {
  return code === "SECRET_FILE_UNREADABLE" && viewer === "service" ? "other" : viewer;
}

/** Without the collector's own settings, which are root's, the socket monitor's name the same directory. */
function directoryOf({ collector, env }: StatusDependencies): string {
  if (collector.status === "found") return collector.textfileDir;
  const settings = settingsOf("socket-monitor", { env });
  const named = settings.status === "read" ? settings.env.TEXTFILE_DIR?.trim() : undefined;
  return named?.startsWith("/") ? named : SETTINGS.TEXTFILE_DIR.default;
}

/** The report over a metrics file. */
export function judgePass(text: string, nowMs: number): PartReport {
  const lastMs = lastPassMs(text);
  if (lastMs === null) return attention(["the metrics file does not say when it was written"], DOCTOR);
  const ageMs = nowMs - lastMs;
  const failing = failedSources(text);
  const facts = { ageSeconds: Math.max(0, Math.round(ageMs / 1000)), failing };
  const due = ageMs > STALE_PASS_MS ? " (one is due every minute)" : "";
  const lines = [
    `last pass ${ageText(ageMs)}${due}, ${failing.length === 0 ? "every source read" : `not read: ${failing.join(", ")}`}`,
  ];
  if (ageMs > STALE_PASS_MS || isToCome(ageMs)) return attention(lines, DOCTOR, facts);
  return failing.length > 0
    ? attention(lines, "sudo opsctl collect-metrics --stdout", facts)
    : ok(lines, facts);
}
