import { existsSync } from "node:fs";
import { join } from "node:path";
import { failureRank, RANK } from "../last-run/failure-rank.ts";
import { HEARTBEAT_FILE } from "../last-run/file-name.ts";
import { hasWorked } from "../last-run/has-worked.ts";
import type { LastRun, Waiting } from "../last-run/last-run.ts";
import { hasEnded } from "../last-run/process-mark.ts";
import { type LastRunReading, readLastRun } from "../last-run/read.ts";
import { Temporal } from "../time/temporal.ts";
import { type WeekWindow, weekWindow } from "../time/week-window.ts";

/** How the last run of this host went. */
export type LastRunFacts = {
  /** `ended` is a run that was killed: it said that it began and nothing more. */
  status: LastRun["status"] | "ended";
  runId: string;
  host: string;
  /** Instants of the database's clock, null where the run did not get so far; of a refusal this host's clock. */
  begunAt: string | null;
  finishedAt: string | null;
  /** The code of what broke it off, or else of the failure that tells most. */
  code: string | null;
  /** What it waits for before it can begin, or waited for when it was killed. */
  waiting: Waiting | null;
  /** The code of what failed and stands in no ledger: the editorials or the heartbeat. */
  beside: string | null;
  /**
   * The success heartbeat: `kept` by a success is one without networks, `gone` one that was removed since. Null
   * where the run did not get so far.
   */
  heartbeat: "written" | "kept" | "failed" | "gone" | null;
};

/** A week by its first date, whether the ledger calls it clean, and whether there is no file of a full success. */
type LookedAt = { week: string; isClean: boolean; isHeartbeatGone: boolean };

/**
 * What this host knows of a run about a week; `unreadable` with the reason's code when its file cannot be read.
 *
 * Shape: `hasHostWorked`: a run of this host has worked on another week.
 */
export type LastRunFinding =
  | { status: "found"; run: LastRunFacts }
  | { status: "none"; hasHostWorked: boolean }
  | Extract<LastRunReading, { status: "unreadable" }>;

/**
 * Whether a run has ended in full success, and its heartbeat proves it: one that was told to leave the networks out keeps
 * the heartbeat of an earlier one.
 */
export function isFullSuccess({ status, heartbeat }: LastRunFacts): boolean {
  return status === "success" && heartbeat !== "kept" && heartbeat !== "gone";
}

/** The last run that this host's file tells of, if it was about this week. */
export function findLastRun(logDir: string, week: Omit<LookedAt, "isHeartbeatGone">): LastRunFinding {
  const isHeartbeatGone = !existsSync(join(logDir, HEARTBEAT_FILE));
  return lastRunOfWeek(readLastRun(logDir), { ...week, isHeartbeatGone });
}

/**
 * The run that such a file tells of, if it was about this week.
 *
 * Behaviour: on a host where no run has worked, one that only missed its settings says nothing about a week that is
 *            clean: other hosts have made it.
 */
export function lastRunOfWeek(
  reading: LastRunReading,
  { week, isClean, isHeartbeatGone }: LookedAt,
): LastRunFinding {
  if (reading.status === "none") return { status: "none", hasHostWorked: false };
  if (reading.status === "unreadable") return reading;
  const hasHostWorked = hasWorked(reading);
  if (weekOf(reading.run)?.week !== week || (isClean && !hasHostWorked))
    return { status: "none", hasHostWorked };
  const run = factsOf(reading.run);
  const heartbeat = run.heartbeat === "written" && isHeartbeatGone ? "gone" : run.heartbeat;
  return { status: "found", run: { ...run, heartbeat } };
}

/** What a run of this host waits for now, before it can begin; null where none is seen to. */
export function findWaiting(logDir: string): Waiting | null {
  const reading = readLastRun(logDir);
  return reading.status === "found" && !hasEnded(reading.run.process) ? reading.run.waiting : null;
}

/** The week that a run is about; one that did not get to the database has only this host's clock to know it by. */
export function weekOf({ window, waiting, refusedAt }: LastRun): WeekWindow | null {
  const at = waiting?.since ?? window?.end ?? refusedAt;
  return at === null ? null : weekWindow(Temporal.Instant.from(at));
}

const HEARTBEATS = ["written", "kept", "failed"] as const;

/** What such a record says. */
export function factsOf(run: LastRun): LastRunFacts {
  const { status, runId, error, waiting, refusedAt } = run;
  const isKilled = status === "running" && hasEnded(run.process);
  const hasBegun = waiting === null && refusedAt === null && status !== "not_ready";
  return {
    status: isKilled ? "ended" : status,
    runId,
    host: run.process.host,
    // What did not begin keeps when the run before it did.
    begunAt: hasBegun ? run.begunAt : null,
    finishedAt: typeof run.finishedAt === "string" ? run.finishedAt : refusedAt,
    code: error?.code ?? leadingCode(run.failures),
    waiting,
    beside: codeBeside(run),
    heartbeat: HEARTBEATS.find((one) => one === run.heartbeat) ?? null,
  };
}

function codeBeside({ editorials, heartbeat }: LastRun): string | null {
  if (heartbeat === "failed") return "HEARTBEAT_UNWRITABLE";
  const { status, code } = (editorials ?? {}) as { status?: unknown; code?: unknown };
  return status === "failed" ? String(code) : null;
}

/** The code of the failure that tells most; one connection's, which fails no run, says nothing about how it ended. */
function leadingCode(failures: unknown): string | null {
  const given: unknown[] = Array.isArray(failures) ? failures : [];
  const [leading] = given
    .filter(isFailure)
    .filter((failure) => failureRank(failure) !== RANK.failsNoRun)
    .toSorted((one, other) => failureRank(other) - failureRank(one));
  return leading?.code ?? null;
}

function isFailure(value: unknown): value is { step: string; code: string } {
  const { step, code } = (value ?? {}) as Record<string, unknown>;
  return typeof step === "string" && typeof code === "string";
}
