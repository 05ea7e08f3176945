import type { LastRun, Waiting } from "../../last-run/last-run.ts";
import type { RunStart } from "../context/run-start.ts";
import type { WeeklySummary } from "../context/summary.ts";

/** What the last-run file knows beyond the summary. */
export type RecordFacts = Pick<LastRun, "begunAt" | "process" | "announcement" | "sent" | "refusedAt">;

/**
 * A summary as the last-run file keeps it: ids and codes, without the sentences for people and without what peers
 * worded.
 */
export function lastRunOf(summary: WeeklySummary, facts: RecordFacts): LastRun {
  const { status, error, editorials, ...rest } = summary;
  const { reasonStopped: _reason, cursor: _cursor, ...drained } = editorials;
  return {
    ...rest,
    status: status === "success" || status === "not_ready" ? status : "failed",
    editorials: drained,
    error: error === null ? null : { code: error.code },
    waiting: null,
    ...facts,
  };
}

/** What the file holds while a run goes on: what is known at its start, and nothing of its end. */
export function runningOf(
  start: RunStart,
  facts: Pick<RecordFacts, "process" | "announcement" | "sent">,
): LastRun {
  const { version, runId, startedAt, window, retryableUntil } = start;
  return {
    command: "weekly",
    version,
    runId,
    startedAt,
    finishedAt: null,
    window,
    status: "running",
    week: null,
    retryableUntil,
    error: null,
    begunAt: startedAt,
    waiting: null,
    refusedAt: null,
    ...facts,
  };
}

/** A run that waits before it can begin: what is known of the week is what the run before has left. */
export function waitingOf(
  { version, runId }: Pick<RunStart, "version" | "runId">,
  { before, process, waiting }: { before: LastRun | null; process: LastRun["process"]; waiting: Waiting },
): LastRun {
  return {
    command: "weekly",
    version,
    runId,
    startedAt: null,
    finishedAt: null,
    window: before?.window ?? null,
    status: "running",
    week: before?.week ?? null,
    retryableUntil: before?.retryableUntil ?? null,
    error: null,
    begunAt: before?.begunAt ?? null,
    announcement: before?.announcement ?? null,
    sent: before?.sent ?? null,
    process,
    waiting,
    refusedAt: null,
  };
}
