import { METRIC } from "../host/metric-names.ts";
import { type MetricSample, renderMetrics } from "../text/prometheus-text.ts";
import { wrapText } from "../text/wrap.ts";
import type { CollectReport, SourceReport } from "./run.ts";
import { SOURCES } from "./sources.ts";

/** What each series means, those of the sources first. */
const HELP: Readonly<Record<string, string>> = {
  ...Object.assign({}, ...SOURCES.map(({ help }) => help)),
  [METRIC.collectorUp]: "1 when the collector could read the source, 0 when it could not.",
  [METRIC.collectorDuration]: "How long the collector took to read the source, in seconds.",
  [METRIC.collectorLastRun]: "When the collector last ran, in Unix seconds.",
};

/** The text of `custom_metrics.prom`; a series without samples is left out, with its HELP and TYPE. */
export function renderReport({ sources, finishedAtMs }: CollectReport): string {
  const ofEach = (value: (source: SourceReport) => number) =>
    sources.map((source) => ({ labels: { source: source.name }, value: value(source) }));
  const samples: Record<string, readonly MetricSample[]> = {
    ...Object.assign({}, ...sources.map((source) => source.samples)),
    [METRIC.collectorUp]: ofEach(({ problem }) => (problem === null ? 1 : 0)),
    [METRIC.collectorDuration]: ofEach(({ durationMs }) => Math.round(durationMs) / 1000),
    [METRIC.collectorLastRun]: [{ value: Math.round(finishedAtMs) / 1000 }],
  };
  const families = Object.entries(HELP).map(([name, help]) => {
    return { name, help, type: "gauge" as const, samples: samples[name] ?? [] };
  });
  return renderMetrics(families.filter((family) => family.samples.length > 0));
}

/** One line for people, wrapped at `width` columns of a terminal: what was read and where it went. */
export function renderCollected({ sources }: CollectReport, path: string, width: number | null): string {
  const failed = sources.flatMap(({ name, problem }) =>
    problem === null ? [] : [`${name} (${problem.code})`],
  );
  const values = sources.flatMap(({ samples }) => Object.values(samples).flat());
  const missing = failed.length === 0 ? "" : `; not read: ${failed.join(", ")}`;
  const read = `${sources.length - failed.length} of ${sources.length} sources`;
  const line = `${read}, ${values.length} values, written to ${path}${missing}`;
  return `${wrapText(line, width ?? line.length, "  ").join("\n")}\n`;
}
