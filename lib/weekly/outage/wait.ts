/**
 * A run's wait for the application.
 *
 * Shape: a `tripped` wait ends with the run breaking off, a `short` one with its second pass. `patienceMs` of zero is
 *        no wait; `lastProbeMs` is null before the first probe.
 * Units: milliseconds of a clock that only grows.
 */
export type Wait = {
  kind: "tripped" | "short";
  sinceMs: number;
  patienceMs: number;
  deadlineMs: number;
  nextProbeMs: number;
  lastProbeMs: number | null;
};

/** What is to be done in a wait: nothing for a while, ask the application, or stop waiting. */
export type WaitStep = { status: "sleep"; ms: number } | { status: "probe" } | { status: "over" };

/** How long to wait between two probes. */
export const PROBE_EVERY_MS = 30_000;

/** A wait that begins now. */
export function beginWait(kind: Wait["kind"], nowMs: number, patienceMs: number): Wait {
  const deadlineMs = nowMs + patienceMs;
  const nextProbeMs = Math.min(nowMs + PROBE_EVERY_MS, deadlineMs);
  return { kind, sinceMs: nowMs, patienceMs, deadlineMs, nextProbeMs, lastProbeMs: null };
}

/** The next step; the last probe is made when the patience has ended, so that all of it counts. */
export function waitStep(wait: Wait, nowMs: number): WaitStep {
  const { patienceMs, nextProbeMs } = wait;
  if (patienceMs === 0 || isLastProbe(wait)) return { status: "over" };
  return nowMs < nextProbeMs ? { status: "sleep", ms: nextProbeMs - nowMs } : { status: "probe" };
}

/** Whether the probe that was begun last is the last one. */
export function isLastProbe({ deadlineMs, lastProbeMs }: Wait): boolean {
  return lastProbeMs !== null && lastProbeMs >= deadlineMs;
}

/** The wait once a probe has begun. */
export function afterProbe(wait: Wait, nowMs: number): Wait {
  const nextProbeMs = nowMs < wait.deadlineMs ? Math.min(nowMs + PROBE_EVERY_MS, wait.deadlineMs) : nowMs;
  return { ...wait, nextProbeMs, lastProbeMs: nowMs };
}
