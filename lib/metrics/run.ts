import type { Settings } from "../platform/config/load.ts";
import type { SettingName } from "../platform/config/settings-table.ts";
import type { Log } from "../platform/log/log.ts";
import { withTimeout } from "../platform/timeout.ts";
import { type MetricSource, type SourceContext, type SourceReading, unread } from "./source.ts";

/** The dependencies of a run of the collector. */
export type CollectDependencies = {
  sources: readonly MetricSource[];
  settings: Settings<never, SettingName>;
  env: SourceContext["env"];
  log: Pick<Log, "debug" | "warn" | "error">;
  nowMs: () => number;
};

/** The result of one source. */
export type SourceReport = SourceReading & { name: string; durationMs: number };

/** The result of a run; `finishedAtMs` is epoch milliseconds. */
export type CollectReport = { sources: SourceReport[]; finishedAtMs: number };

/**
 * Reads all sources at the same time, each within its own limit, and logs what cannot be read.
 *
 * Behaviour: a run takes no longer than the longest limit. A source that is late or throws has a problem and no
 *            samples; the others are not affected.
 * Errors:    none thrown.
 */
export async function collectMetrics(dependencies: CollectDependencies): Promise<CollectReport> {
  const sources = await Promise.all(
    dependencies.sources.map(async (source): Promise<SourceReport> => {
      const startedMs = performance.now();
      const reading = await readInTime(source, dependencies);
      return { name: source.name, ...reading, durationMs: performance.now() - startedMs };
    }),
  );
  for (const { name, problem } of sources)
    if (problem !== null) dependencies.log.error(problem.message, { source: name, code: problem.code });
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
