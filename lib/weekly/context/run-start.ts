import type { WeeklySummary } from "./summary.ts";

/** What the beginning of a run is known by. */
export type RunStart = Pick<WeeklySummary, "version" | "runId" | "startedAt" | "window" | "retryableUntil">;
