import { wrapText } from "../text/wrap.ts";
import type { CollectReport } from "./run.ts";

/** One line for people, wrapped at `width` columns of a terminal: what was read and where it went. */
export function renderCollected({ sources }: CollectReport, path: string, width: number | null): string {
  const read = sources.filter(({ problem }) => problem === null);
  const series = sources.flatMap(({ samples }) => Object.values(samples).flatMap((list) => list ?? []));
  const missing = sources.flatMap(({ name, problem }) =>
    problem === null ? [] : [`${name} (${problem.code})`],
  );
  const failed = missing.length === 0 ? "" : `; not read: ${missing.join(", ")}`;
  const line = `${read.length} of ${sources.length} sources, ${series.length} values, written to ${path}${failed}`;
  return `${wrapText(line, width ?? line.length, "  ").join("\n")}\n`;
}
