import { reportDayEnd } from "../../time/report-day.ts";

/** How long one reading of the database's clock may stand for another. */
const RECENT_MS = 5_000;
/** How far away midnight has to be for that. */
const MIDNIGHT_FAR_MS = 60_000;

/**
 * The database's clock for questions that come many times a second: a reading of the last five seconds may be used
 * again, unless midnight in America/Sao_Paulo was less than a minute away.
 *
 * Shape:     the instant as it was read. It decides about the day alone, and the claim decides again.
 * Behaviour: `monotonicMs` tells how old a reading is; a failed reading is not kept.
 */
export function recentClock(
  read: () => Promise<Temporal.Instant>,
  monotonicMs: () => number,
): () => Promise<Temporal.Instant> {
  let latest: { now: Temporal.Instant; readMs: number } | null = null;
  return async () => {
    const askedMs = monotonicMs();
    if (latest !== null && askedMs - latest.readMs <= RECENT_MS) return latest.now;
    const now = await read();
    const leftMs = reportDayEnd(now).epochMilliseconds - now.epochMilliseconds;
    // Its age counts from the question: the answer may have been long on its way.
    latest = leftMs > MIDNIGHT_FAR_MS ? { now, readMs: askedMs } : null;
    return now;
  };
}
