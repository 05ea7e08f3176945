import type { Tried } from "./settlement.ts";

/** What this process itself must have tried of a row before it is given up. */
const LEAST_ATTEMPTS = 10;
const LEAST_TRIED_MS = 60 * 60_000;

/** Memory of rows that are gone is let go when so many rows are remembered. */
const MOST_REMEMBERED = 100_000;

/**
 * What this process did for a row.
 *
 * Shape: `dueAtMs` is when it was to be tried next.
 * Units: milliseconds of one monotonic clock.
 */
export type Tries = { attempts: number; triedMs: number; endedAtMs: number; dueAtMs: number };

/** One attempt; `openSinceMs` is since when its channel may send. A refusal that meets every row does not count. */
export type TimedAttempt = { startedMs: number; endedMs: number; openSinceMs: number; counts: boolean };

/**
 * The time by which an attempt lengthens the trying of its row.
 *
 * Behaviour: counts the attempt itself and the wait that its row was given before it. What it waited beyond that counts
 *            for nothing: it stood behind others, or its channel was stopped.
 */
function triedMore(before: Tries | undefined, attempt: TimedAttempt): number {
  const { startedMs, endedMs, openSinceMs, counts } = attempt;
  if (!counts) return 0;
  const span = (fromMs: number, toMs: number) => Math.max(0, toMs - Math.max(fromMs, openSinceMs));
  const waitedMs = before === undefined ? 0 : span(before.endedAtMs, Math.min(startedMs, before.dueAtMs));
  return waitedMs + span(startedMs, endedMs);
}

/**
 * For how long rows were tried.
 *
 * Behaviour: the time of earlier processes comes with the row. After a start each row gets at least ten attempts,
 *            spread over an hour of trying.
 */
export class TryingTime {
  readonly #rows = new Map<number, Tries>();

  /** Counts an attempt of a row that was tried for `triedMs` before. */
  count({ id, triedMs }: { id: number; triedMs: number }, attempt: TimedAttempt): Tried {
    const before = this.#rows.get(id);
    const moreMs = triedMore(before, attempt);
    const tries = {
      attempts: (before?.attempts ?? 0) + (attempt.counts ? 1 : 0),
      triedMs: (before?.triedMs ?? 0) + moreMs,
      endedAtMs: attempt.endedMs,
      dueAtMs: attempt.endedMs,
    };
    this.#remember(id, tries);
    const mayEnd = tries.attempts >= LEAST_ATTEMPTS && tries.triedMs >= LEAST_TRIED_MS;
    return { triedMs: triedMs + moreMs, mayEnd };
  }

  /** Says after how long a row is to be tried again. */
  expect(row: number, delayMs: number): void {
    const tries = this.#rows.get(row);
    if (tries !== undefined) tries.dueAtMs = tries.endedAtMs + delayMs;
  }

  forget(row: number): void {
    this.#rows.delete(row);
  }

  /** The longest untried first in the map: rows that an operator removed are never tried again. */
  #remember(row: number, tries: Tries): void {
    this.#rows.delete(row);
    this.#rows.set(row, tries);
    if (this.#rows.size <= MOST_REMEMBERED) return;
    const [oldest] = this.#rows.keys();
    this.#rows.delete(oldest!);
  }
}
