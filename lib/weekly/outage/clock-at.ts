import type { Run } from "../context/run.ts";

/**
 * What the database's clock shows when this process's own, which only grows, shows `monotonicMs`.
 *
 * Behaviour: by the database's clock as it was at the start, and how long ago that is: good enough to say until when.
 */
export function clockAt(
  { startedAt, startedMs }: Pick<Run, "startedAt" | "startedMs">,
  monotonicMs: number,
): Temporal.Instant {
  return startedAt.add({ milliseconds: Math.round(monotonicMs - startedMs) });
}
