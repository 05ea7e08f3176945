import { join } from "node:path";
import { METRIC } from "../../host/metric-names.ts";
import { LAST_RUN_FILE } from "../../last-run/file-name.ts";
import type { LastRun } from "../../last-run/last-run.ts";
import { readLastRun } from "../../last-run/read.ts";
import { DELIVERY_CHANNELS, OPEN_STATES } from "../../last-run/week-counts.ts";
import type { MetricSample } from "../../text/prometheus-text.ts";
import type { SourceReading } from "../source.ts";

/**
 * What the last weekly run left in the log directory; no sample where there was no run, which is no failure.
 *
 * Behaviour: the directory belongs to the service's account, and the collector is root: a link there is not followed, a
 *            pipe not waited for, and nothing of the file but what its schema has is used. A record that cannot be
 *            understood is a failure, never zero.
 */
export function readLastRunSamples(logDir: string): SourceReading {
  const reading = readLastRun(logDir);
  if (reading.status === "found") return { samples: samplesOf(reading.run), problem: null };
  if (reading.status === "none") return { samples: {}, problem: null };
  const message = `Cannot read ${join(logDir, LAST_RUN_FILE)}: ${reading.code}`;
  return { samples: {}, problem: { code: "last_run_unreadable", message } };
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
