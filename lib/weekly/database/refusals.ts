import { classifyDatabaseError } from "../../platform/database/pool.ts";

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

/** True when the connection broke: what the database did is then not known. */
export function isConnectionLoss(error: unknown): boolean {
  return classifyDatabaseError(error).transient;
}

/** The code of a database failure for the log: its SQLSTATE where there is one. */
export function databaseCode(error: unknown): string {
  const { sqlState, code } = classifyDatabaseError(error);
  return sqlState ?? code;
}

/** Until when, and by which clock, a lost call is repeated. */
export type Repetition = {
  deadlineMs: number;
  monotonicMs(): number;
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  signal: AbortSignal;
};

const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 5_000;

/**
 * Repeats a call while the database is briefly away. Only for calls that the same token and values may repeat.
 *
 * Errors: the last failure once the deadline has passed or the signal is aborted; a refusal at once.
 */
export async function repeatWhileLost<T>(call: () => Promise<T>, repetition: Repetition): Promise<T> {
  const { deadlineMs, monotonicMs, sleep, signal } = repetition;
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS)) {
    try {
      return await call();
    } catch (error) {
      if (!isConnectionLoss(error) || signal.aborted || monotonicMs() + waitMs > deadlineMs) throw error;
      await sleep(waitMs, signal).catch(() => {});
    }
  }
}
