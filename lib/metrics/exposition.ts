import { METRIC } from "../host/metric-names.ts";
import { type MetricFamily, type MetricSample, renderMetrics } from "../text/prometheus-text.ts";
import type { CollectReport } from "./run.ts";

/**
 * What each series means, in the order of the file; one that is missing here is a type error. The texts never change: an
 * agent that sees two texts for one name drops one.
 */
const HELP: Readonly<Record<(typeof METRIC)[keyof typeof METRIC], string>> = {
  [METRIC.proxyMemoryBytes]: "Memory of the reverse-proxy container in bytes, as docker stats shows it.",
  [METRIC.tcpCloseWait]: "TCP connections in CLOSE_WAIT, IPv4 and IPv6.",
  [METRIC.tcpSockets]: "TCP sockets that ss -ant lists, IPv4 and IPv6, listeners and TIME_WAIT included.",
  [METRIC.hostingDeployFailed]:
    "1 when the newest finished deployment of the project failed, 0 when it is ready.",
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
  [METRIC.collectorUp]: "1 when the collector could read the source, 0 when it could not.",
  [METRIC.collectorDuration]: "How long the collector took to read the source, in seconds.",
  [METRIC.collectorLastRun]: "When the collector last ran, in Unix seconds.",
};

/**
 * The text of `custom_metrics.prom` for a run's report.
 *
 * Behaviour: a series without samples is left out, with its HELP and TYPE.
 */
export function renderReport(report: CollectReport): string {
  const samples = samplesByName(report);
  const families = Object.entries(HELP).map(
    ([name, help]): MetricFamily => ({ name, help, type: "gauge", samples: samples[name] ?? [] }),
  );
  return renderMetrics(families.filter((family) => family.samples.length > 0));
}

function samplesByName({
  sources,
  finishedAtMs,
}: CollectReport): Partial<Record<string, readonly MetricSample[]>> {
  const each = (value: (source: CollectReport["sources"][number]) => number) =>
    sources.map((source) => ({ labels: { source: source.name }, value: value(source) }));
  return {
    ...Object.assign({}, ...sources.map(({ samples }) => samples)),
    [METRIC.collectorUp]: each(({ problem }) => (problem === null ? 1 : 0)),
    [METRIC.collectorDuration]: each(({ durationMs }) => Math.round(durationMs) / 1000),
    [METRIC.collectorLastRun]: [{ value: Math.round(finishedAtMs) / 1000 }],
  };
}
