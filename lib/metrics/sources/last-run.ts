import { lstatSync } from "node:fs";
import { join } from "node:path";
import { METRIC } from "../../host/metric-names.ts";
import { LAST_RUN_FILE } from "../../last-run/file-name.ts";
import type { LastRun } from "../../last-run/last-run.ts";
import { type LastRunReading, readingOf, readLastRunText } from "../../last-run/read.ts";
import { DELIVERY_CHANNELS, OPEN_STATES } from "../../last-run/week-counts.ts";
import { isRoot } from "../../platform/account/account.ts";
import type { MetricSample } from "../../text/prometheus-text.ts";
import type { SourceReading } from "../source.ts";

/** Reads the text of a file as the account with this number. */
export type ReadAs = (uid: number, path: string, signal: AbortSignal) => Promise<string>;

/**
 * What the last weekly run left in the log directory; no sample where there was no run, which is no failure.
 *
 * Behaviour: the directory belongs to the service's account, which could put a link there: a process that is root does
 *            not open the file but has it read as that account. A record that cannot be understood is a failure, never zero.
 */
export async function readLastRunSamples(
  logDir: string,
  readAs: ReadAs,
  signal: AbortSignal,
): Promise<SourceReading> {
  const path = join(logDir, LAST_RUN_FILE);
  const reading = await read(path, logDir, readAs, signal);
  if (reading.status === "found") return { samples: samplesOf(reading.run), problem: null };
  if (reading.status === "none") return { samples: {}, problem: null };
  const message = `Cannot read ${path}: ${reading.code}`;
  return { samples: {}, problem: { code: "last_run_unreadable", message } };
}

async function read(
  path: string,
  logDir: string,
  readAs: ReadAs,
  signal: AbortSignal,
): Promise<LastRunReading> {
  try {
    // Only whether there is one: most minutes of a new host have none, and starting a process for that takes longer.
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return { status: "none" };
    const { uid } = lstatSync(logDir);
    return readingOf(isRoot() && uid !== 0 ? await readAs(uid, path, signal) : readLastRunText(path));
  } catch (error) {
    const { code, name } = error as NodeJS.ErrnoException;
    return { status: "unreadable", code: code ?? name };
  }
}

/** The samples of a run; what it does not know has none. */
function samplesOf(run: LastRun): SourceReading["samples"] {
  const { status, begunAt, retryableUntil, week } = run;
  return {
    [METRIC.weeklyLastRun]: instantSample(begunAt),
    [METRIC.weeklyLastRunSuccess]: status === "running" ? [] : [{ value: status === "success" ? 1 : 0 }],
    [METRIC.weeklyRunning]: [{ value: status === "running" ? 1 : 0 }],
    [METRIC.weeklyOpenDeliveries]: week === null ? [] : openSamples(week),
    [METRIC.weeklyRetryableUntil]: instantSample(retryableUntil),
  };
}

function instantSample(instant: string | null): MetricSample[] {
  return instant === null ? [] : [{ value: Date.parse(instant) / 1000 }];
}

function openSamples(week: NonNullable<LastRun["week"]>): MetricSample[] {
  return DELIVERY_CHANNELS.flatMap((channel) =>
    OPEN_STATES.map((state) => ({ labels: { channel, state }, value: week[channel][state] })),
  );
}
