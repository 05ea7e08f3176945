import type { WeeklySummary } from "./summary.ts";

/** What the beginning of a run is known by. */
export type RunStart = Pick<WeeklySummary, "version" | "runId" | "startedAt" | "window" | "retryableUntil">;

/** A run that cannot reach the database before it has begun; `limitMs` is how long it waits at most from now on. */
export type DatabaseWait = Pick<RunStart, "version" | "runId"> & { code: string; limitMs: number };
