import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { HEARTBEAT_FILE } from "../../host/heartbeat-file-name.ts";
import { METRIC } from "../../host/metric-names.ts";
import type { Source, SourceReading } from "../source.ts";
import { readLastRunSamples } from "./last-run.ts";

/**
 * What the weekly run left in its log directory: its heartbeat, and how the last run began and ended.
 *
 * Behaviour: one of the two that cannot be read is the source's problem, and the other is shown.
 */
export function heartbeatSource(logDir: string): Source {
  return async () => {
    const beat = await readHeartbeat(logDir);
    const lastRun = readLastRunSamples(logDir);
    return { samples: { ...beat.samples, ...lastRun.samples }, problem: beat.problem ?? lastRun.problem };
  };
}

/**
 * When the weekly report last ended well; no sample when it never did, which is no failure.
 *
 * Behaviour: does not open the file, and a link in its place is a failure: its directory belongs to the service's
 *            account, and the collector is root.
 */
async function readHeartbeat(logDir: string): Promise<SourceReading> {
  try {
    const found = await lstat(join(logDir, HEARTBEAT_FILE));
    if (!found.isFile()) throw Object.assign(new Error("not a file"), { code: "it is not a file" });
    const { mtimeMs } = found;
    return {
      samples: { [METRIC.weeklyLastSuccess]: [{ value: Math.round(mtimeMs) / 1000 }] },
      problem: null,
    };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return { samples: {}, problem: null };
    const message = `Cannot look at ${join(logDir, HEARTBEAT_FILE)}: ${code ?? "the file system failed"}`;
    return { samples: {}, problem: { code: "heartbeat_unreadable", message } };
  }
}
