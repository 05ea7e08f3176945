import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { METRIC } from "../../host/metric-names.ts";
import { HEARTBEAT_FILE, LAST_RUN_FILE } from "../../last-run/file-name.ts";
import type { LastRun } from "../../last-run/last-run.ts";
import { readLastRun } from "../../last-run/read.ts";
import { DELIVERY_CHANNELS, OPEN_STATES } from "../../last-run/week-counts.ts";
import { type MetricSource, type SourceReading, unread } from "../source.ts";

/**
 * What the weekly run left in its log directory: its heartbeat, and how the last run began and ended.
 *
 * Behaviour: if one of the two cannot be read, it is the source's problem, and the other is shown. The directory belongs
 *            to the service's account, and the collector is root: no link is followed and no pipe waited for.
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
    const last = lastRunReading(logDir);
    return { samples: { ...beat.samples, ...last.samples }, problem: beat.problem ?? last.problem };
  },
};

const NEVER: SourceReading = { samples: {}, problem: null };

/** When the weekly report last ended well. */
async function readHeartbeat(path: string): Promise<SourceReading> {
  try {
    const found = await lstat(path);
    if (!found.isFile()) return unread("heartbeat_unreadable", `Cannot look at ${path}: it is not a file`);
    const value = Math.round(found.mtimeMs) / 1000;
    return { samples: { [METRIC.weeklyLastSuccess]: [{ value }] }, problem: null };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return NEVER;
    return unread("heartbeat_unreadable", `Cannot look at ${path}: ${code ?? "the file system failed"}`);
  }
}

function lastRunReading(logDir: string): SourceReading {
  const reading = readLastRun(logDir);
  if (reading.status === "none") return NEVER;
  if (reading.status === "found") return { samples: samplesOf(reading.run), problem: null };
  return unread("last_run_unreadable", `Cannot read ${join(logDir, LAST_RUN_FILE)}: ${reading.code}`);
}

/** The samples of a run; what it does not know has none. */
function samplesOf({ status, begunAt, retryableUntil, week }: LastRun): SourceReading["samples"] {
  const instant = (text: string | null) => (text === null ? [] : [{ value: Date.parse(text) / 1000 }]);
  const open = DELIVERY_CHANNELS.flatMap((channel) =>
    OPEN_STATES.map((state) => ({ labels: { channel, state }, value: week?.[channel][state] ?? 0 })),
  );
  return {
    [METRIC.weeklyLastRun]: instant(begunAt),
    [METRIC.weeklyLastRunSuccess]: status === "running" ? [] : [{ value: status === "success" ? 1 : 0 }],
    [METRIC.weeklyRunning]: [{ value: status === "running" ? 1 : 0 }],
    [METRIC.weeklyOpenDeliveries]: week === null ? [] : open,
    [METRIC.weeklyRetryableUntil]: instant(retryableUntil),
  };
}
