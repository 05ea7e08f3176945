import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { HEARTBEAT_FILE } from "../../host/heartbeat-file-name.ts";
import { METRIC } from "../../host/metric-names.ts";
import { type MetricSource, type SourceReading, unread } from "../source.ts";
import { readLastRunSamples } from "./last-run.ts";

/**
 * What the weekly run left in its log directory: its heartbeat, and how the last run began and ended.
 *
 * Behaviour: if one of the two cannot be read, it is the source's problem, and the other is shown.
 */
export const heartbeat: MetricSource = {
  name: "heartbeat",
  help: {
    [METRIC.weeklyLastSuccess]: "When the weekly report last ended without failure, in Unix seconds.",
    [METRIC.weeklyLastRun]: "When the last weekly run that could begin did so, in Unix seconds.",
    [METRIC.weeklyLastRunSuccess]:
      "1 when the last weekly run ended without failure, 0 when it did not; absent while it goes on.",
    [METRIC.weeklyRunning]:
      "1 while the last weekly run has left no end, because it goes on or was killed, else 0.",
    [METRIC.weeklyOpenDeliveries]:
      "Deliveries of the last weekly run's week that are not sent or not wholly recorded.",
    [METRIC.weeklyRetryableUntil]:
      "Until when the week of the last weekly run can be repeated, in Unix seconds.",
  },
  limitMs: 8_000,
  settings: ["OPSCTL_LOG_DIR"],
  async read({ OPSCTL_LOG_DIR: logDir }) {
    const beat = await readHeartbeat(join(logDir, HEARTBEAT_FILE));
    const lastRun = readLastRunSamples(logDir);
    return { samples: { ...beat.samples, ...lastRun.samples }, problem: beat.problem ?? lastRun.problem };
  },
};

/**
 * When the weekly report last ended well; no sample when it never did, which is no failure.
 *
 * Behaviour: does not open the file, and a link in its place is a failure: its directory belongs to the service's
 *            account, and the collector is root.
 */
async function readHeartbeat(path: string): Promise<SourceReading> {
  try {
    const found = await lstat(path);
    if (!found.isFile()) return unread("heartbeat_unreadable", `Cannot look at ${path}: it is not a file`);
    const value = Math.round(found.mtimeMs) / 1000;
    return { samples: { [METRIC.weeklyLastSuccess]: [{ value }] }, problem: null };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return { samples: {}, problem: null };
    return unread("heartbeat_unreadable", `Cannot look at ${path}: ${code ?? "the file system failed"}`);
  }
}
