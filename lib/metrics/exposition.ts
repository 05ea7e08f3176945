import { METRIC } from "../host/metric-names.ts";
import { type MetricFamily, type MetricSample, renderMetrics } from "../text/prometheus-text.ts";
import type { CollectReport } from "./run.ts";

/**
 * What each series means, in the order of the file. The texts never change: an agent that sees two texts for one name
 * drops one.
 */
const FAMILIES: readonly { name: string; help: string }[] = [
  {
    name: METRIC.proxyMemoryBytes,
    help: "Memory of the reverse-proxy container in bytes, as docker stats shows it.",
  },
  { name: METRIC.tcpCloseWait, help: "TCP connections in CLOSE_WAIT, IPv4 and IPv6." },
  {
    name: METRIC.tcpSockets,
    help: "TCP sockets that ss -ant lists, IPv4 and IPv6, listeners and TIME_WAIT included.",
  },
  {
    name: METRIC.hostingDeployFailed,
    help: "1 when the newest finished deployment of the project failed, 0 when it is ready.",
  },
  {
    name: METRIC.weeklyLastSuccess,
    help: "When the weekly report last ended without failure, in Unix seconds.",
  },
  {
    name: METRIC.weeklyLastRun,
    help: "When the last weekly run that could begin did so, in Unix seconds.",
  },
  {
    name: METRIC.weeklyLastRunSuccess,
    help: "1 when the last weekly run ended without failure, 0 when it did not; absent while it goes on.",
  },
  {
    name: METRIC.weeklyRunning,
    help: "1 while the last weekly run has left no end, because it goes on or was killed, else 0.",
  },
  {
    name: METRIC.weeklyOpenDeliveries,
    help: "Deliveries of the last weekly run's week that are not sent or not wholly recorded.",
  },
  {
    name: METRIC.weeklyRetryableUntil,
    help: "Until when the week of the last weekly run can be repeated, in Unix seconds.",
  },
  { name: METRIC.collectorUp, help: "1 when the collector could read the source, 0 when it could not." },
  { name: METRIC.collectorDuration, help: "How long the collector took to read the source, in seconds." },
  { name: METRIC.collectorLastRun, help: "When the collector last ran, in Unix seconds." },
];

/**
 * The text of `custom_metrics.prom` for a run's report.
 *
 * Behaviour: a series without samples is left out, with its HELP and TYPE.
 */
export function renderReport(report: CollectReport): string {
  const samples = samplesByName(report);
  const families = FAMILIES.map(
    ({ name, help }): MetricFamily => ({
      name,
      help,
      type: "gauge",
      samples: samples[name] ?? [],
    }),
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
