import { METRIC } from "../host/metric-names.ts";
import { type MetricFamily, type MetricSample, renderMetrics } from "../text/prometheus-text.ts";
import type { CollectReport } from "./run.ts";
import { SOURCES } from "./sources.ts";

/** What each series means, those of the sources first. */
const HELP: Readonly<Record<string, string>> = {
  ...Object.assign({}, ...SOURCES.map(({ help }) => help)),
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
