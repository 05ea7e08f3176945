import { classifyDatabaseError, databaseCode } from "../../platform/database/pool.ts";
import type { Log } from "../../platform/log/log.ts";

export { databaseCode } from "../../platform/database/pool.ts";

/** SQLSTATE that opsctl's functions raise when it is not Monday in America/Sao_Paulo. */
const OUTSIDE_REPORT_DAY = "OW001";

/** True when a function refused because Monday has ended. */
export function isOutsideReportDay(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === OUTSIDE_REPORT_DAY;
}

/** SQLSTATEs of a row that is not there any more: the report, the delivery, and what an insert refers to. */
const ROW_GONE: ReadonlySet<unknown> = new Set(["OW003", "OW021", "23503", "P0002"]);

/** True when a function did not find the row that it was to change: its owner was deleted, or the row was lost. */
export function isRowGone(error: unknown): boolean {
  return ROW_GONE.has((error as { code?: unknown } | null)?.code);
}

/** True when the database is away for a moment: what it did with a call that it did not answer is not known. */
export function isConnectionLoss(error: unknown): boolean {
  return classifyDatabaseError(error).transient;
}

/** True when the database says, by an error or a lost connection, that it is away; silence may be a lock. */
export function isAway(error: unknown): boolean {
  const { code, transient } = classifyDatabaseError(error);
  return transient && code !== "DATABASE_TIMEOUT";
}

/**
 * How long one report waits for a database that is away, for each of its steps; always inside its lease. A managed
 * failover takes 30 to 120 seconds, and for a part of them the database is there and takes no writes.
 */
export const REPORT_PATIENCE_MS = 120_000;

/** How long the whole run waits before it breaks off with DATABASE_LOST. */
export const RUN_PATIENCE_MS = 300_000;

/** How long a dry run waits: a person sits there, and one who is told can run it again. */
export const DRY_RUN_PATIENCE_MS = 10_000;

/** Until when, and by which clock, a lost call is repeated; `deadlineMs` is read anew after each failure. */
export type Repetition = {
  deadlineMs: number;
  monotonicMs(): number;
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  signal: AbortSignal;
  /** Told once when the call has to wait for longer than a moment. */
  log?: Log;
  /** Told once with the log, and how long the call is repeated at most. */
  onLongWait?: (code: string, leftMs: number) => void;
  /** Whether the call may succeed when it is repeated; else it fails at once. */
  isPassing?: (error: unknown) => boolean;
};

const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 5_000;

/** Waits of this length or more are logged, so that a person who watches knows why the run stands still. */
const NOTED_WAIT_MS = 1_000;

/**
 * Repeats a call while the database is away for a moment. Only for calls that the same token and values may repeat.
 *
 * Behaviour: the last try is made at the deadline and not before it.
 * Errors:    the last failure once the deadline has passed or the signal is aborted; a refusal at once.
 */
export async function repeatWhileLost<T>(call: () => Promise<T>, repetition: Repetition): Promise<T> {
  const { monotonicMs, sleep, signal, log, onLongWait, isPassing = isConnectionLoss } = repetition;
  let isNoted = false;
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS)) {
    try {
      return await call();
    } catch (error) {
      const leftMs = repetition.deadlineMs - monotonicMs();
      if (!isPassing(error) || signal.aborted || leftMs <= 0) throw error;
      if (waitMs >= NOTED_WAIT_MS && !isNoted) {
        isNoted = true;
        const code = databaseCode(error);
        const facts = { code, secondsLeft: Math.ceil(leftMs / 1000) };
        log?.warn("The database is away for a moment: a step of the run waits for it", facts);
        onLongWait?.(code, leftMs);
      }
      await sleep(Math.min(waitMs, leftMs), signal).catch(() => {});
    }
  }
}
