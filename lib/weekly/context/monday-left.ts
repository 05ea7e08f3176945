import { reportDayEnd } from "../../time/report-day.ts";
import type { Run } from "./run.ts";

/**
 * How much of Monday is left, by the database's clock as it was when the run began: no wait goes beyond it.
 *
 * Units: milliseconds.
 */
export function mondayLeftOf({
  dependencies,
  startedAt,
  startedMs,
}: Pick<Run, "dependencies" | "startedAt" | "startedMs">): () => number {
  const dayEndMs = startedMs + reportDayEnd(startedAt).epochMilliseconds - startedAt.epochMilliseconds;
  return () => dayEndMs - dependencies.monotonicMs();
}
