import type { CollectReport } from "./run.ts";

/** One line for people: what was read and where it went. */
export function renderCollected({ sources }: CollectReport, path: string): string {
  const read = sources.filter(({ problem }) => problem === null);
  const series = sources.flatMap(({ samples }) => Object.values(samples).flatMap((list) => list ?? []));
  const missing = sources.flatMap(({ name, problem }) =>
    problem === null ? [] : [`${name} (${problem.code})`],
  );
  const failed = missing.length === 0 ? "" : `; not read: ${missing.join(", ")}`;
  return `${read.length} of ${sources.length} sources, ${series.length} values, written to ${path}${failed}\n`;
}
