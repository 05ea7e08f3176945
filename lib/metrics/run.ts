import type { Settings } from "../platform/config/load.ts";
import type { SettingName } from "../platform/config/settings-table.ts";
import { withTimeout } from "../platform/timeout.ts";
import { type MetricSource, type SourceContext, type SourceReading, unread } from "./source.ts";

/** The dependencies of a run of the collector. */
export type CollectDependencies = Omit<SourceContext, "signal"> & {
  sources: readonly MetricSource[];
  settings: Settings<never, SettingName>;
  nowMs: () => number;
  monotonicMs: () => number;
};

/** The result of one source. */
export type SourceReport = SourceReading & { name: string; durationMs: number };

/**
 * The result of a run.
 *
 * Units: `finishedAtMs` is epoch milliseconds.
 */
export type CollectReport = { sources: SourceReport[]; finishedAtMs: number };

/**
 * Reads all sources at the same time, each within its own limit.
 *
 * Behaviour: a run takes no longer than the longest limit. A source that is late or throws has a problem and no
 *            samples; the others are not affected.
 * Errors:    none thrown.
 */
export async function collectMetrics(dependencies: CollectDependencies): Promise<CollectReport> {
  const sources = await Promise.all(
    dependencies.sources.map(async (source): Promise<SourceReport> => {
      const startedMs = dependencies.monotonicMs();
      const reading = await readInTime(source, dependencies);
      return { name: source.name, ...reading, durationMs: dependencies.monotonicMs() - startedMs };
    }),
  );
  return { sources, finishedAtMs: dependencies.nowMs() };
}

async function readInTime(
  source: MetricSource,
  { settings, env, log }: CollectDependencies,
): Promise<SourceReading> {
  const { name, limitMs } = source;
  const late = () =>
    unread(`${name}_timeout`, `Cannot read source ${name}: no end within ${limitMs / 1000} s`);
  try {
    return await withTimeout({ limitMs }, (signal) => source.read(settings, { env, log, signal }), late);
  } catch (error) {
    const kind = error instanceof Error ? error.name : "failure";
    return unread(`${name}_failed`, `Cannot read source ${name}: unexpected ${kind}`);
  }
}
