import { withTimeout } from "../platform/timeout.ts";
import { SOURCES, type Source, type SourceName, type SourceReading } from "./source.ts";

/** The dependencies of a run of the collector; `limitsMs` is how long each source may take. */
export type CollectDependencies = {
  sources: Record<SourceName, Source>;
  limitsMs: Record<SourceName, number>;
  nowMs: () => number;
  monotonicMs: () => number;
};

/** What became of one source. */
export type SourceReport = SourceReading & { name: SourceName; durationMs: number };

/**
 * What a run found.
 *
 * Units: `finishedAtMs` is epoch milliseconds.
 */
export type CollectReport = { sources: SourceReport[]; finishedAtMs: number };

/**
 * Reads all sources at once, each within its own limit.
 *
 * Behaviour: a run takes no longer than the longest limit. A source that is late or throws has a problem and no
 *            samples; the others are not affected.
 * Errors:    none thrown.
 */
export async function collectMetrics(dependencies: CollectDependencies): Promise<CollectReport> {
  const sources = await Promise.all(SOURCES.map((name) => readSource(name, dependencies)));
  return { sources, finishedAtMs: dependencies.nowMs() };
}

async function readSource(name: SourceName, dependencies: CollectDependencies): Promise<SourceReport> {
  const startedMs = dependencies.monotonicMs();
  const reading = await withinLimit(name, dependencies.sources[name], dependencies.limitsMs[name]);
  return { name, ...reading, durationMs: dependencies.monotonicMs() - startedMs };
}

async function withinLimit(name: SourceName, read: Source, limitMs: number): Promise<SourceReading> {
  const late = () =>
    failed(`${name}_timeout`, `Cannot read source ${name}: no end within ${limitMs / 1000} s`);
  try {
    return await withTimeout({ limitMs }, read, late);
  } catch (error) {
    const kind = error instanceof Error ? error.name : "failure";
    return failed(`${name}_failed`, `Cannot read source ${name}: unexpected ${kind}`);
  }
}

function failed(code: string, message: string): SourceReading {
  return { samples: {}, problem: { code, message } };
}
