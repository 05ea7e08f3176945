import type { Log } from "../../platform/log/log.ts";
import { formatInstant } from "../../time/instant.ts";

/** Waits for an application that asks for fewer calls (429); all calls of a run share it. */
export type Throttle = ReturnType<typeof createThrottle>;

/** What the waits need; `patienceMs` is how long they may come to nothing. */
export type ThrottleOptions = {
  patienceMs: number;
  /** How much of Monday is left: a call that waited beyond it would be made for nothing. */
  mondayLeftMs(): number;
  monotonicMs(): number;
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** What the database's clock will show then; for people. */
  clockAt(monotonicMs: number): Temporal.Instant;
  signal: AbortSignal;
  log: Log;
};

/** A connection whose call was throttled: how often that has happened in a row, and until when it waits now. */
export type ThrottledCall = { connectionId: string; times: number; untilMs: number };

/** A call waits at least so long before its first repeat, then twice as long each time: an answer may name no time. */
const FIRST_LEAST_WAIT_MS = 1_000;
/** The least wait does not grow beyond this. */
const LAST_LEAST_WAIT_MS = 30_000;
/** Once the patience is spent, a wait begins this many times its own length after the end of the one before it. */
const TIMES_BETWEEN_WAITS = 20;

/**
 * Decides whether a call that the application throttled is repeated, and when.
 *
 * Behaviour: as long as the answer asks for, and longer before each repeat of the same call. No longer than
 *            `--patience` for waits of which none has helped, and then a twentieth of the time: connections that always
 *            get 429 cost a run no more than that, and an application that throttles later is still waited for. A wait
 *            that helps begins the patience anew.
 */
export function createThrottle(options: ThrottleOptions) {
  const { patienceMs, mondayLeftMs, monotonicMs, sleep, clockAt, signal, log } = options;
  /** Since when waits have come to nothing; null when the last one helped, or none was needed. */
  let inVainSinceMs: number | null = null;
  /** When the last of them ends. */
  let lastEndMs = 0;
  return {
    /** Until when to wait before the call is repeated; null when that is not worth it. */
    waitUntil({ retryAfterMs, repeats }: { retryAfterMs: number; repeats: number }): number | null {
      const leastMs = Math.min(FIRST_LEAST_WAIT_MS * 2 ** repeats, LAST_LEAST_WAIT_MS);
      const waitMs = Math.max(retryAfterMs, leastMs);
      const nowMs = monotonicMs();
      const sinceMs = inVainSinceMs ?? nowMs;
      if (waitMs > patienceMs || waitMs >= mondayLeftMs()) return null;
      const isSpent = nowMs + waitMs > sinceMs + patienceMs;
      if (isSpent && nowMs < lastEndMs + waitMs * TIMES_BETWEEN_WAITS) return null;
      if (inVainSinceMs === null) {
        log.info("The application asks for fewer calls: they wait", {
          code: "APP_HTTP_429",
          waitsFor: "application",
          until: formatInstant(
            clockAt(nowMs + waitMs).round({ smallestUnit: "second", roundingMode: "ceil" }),
          ),
          seconds: Math.ceil(waitMs / 1000),
        });
      }
      inVainSinceMs = sinceMs;
      lastEndMs = Math.max(lastEndMs, nowMs + waitMs);
      return nowMs + waitMs;
    },
    /** Waits until then, or until the run stops; no claim may be held meanwhile. */
    async wait(untilMs: number): Promise<void> {
      const leftMs = untilMs - monotonicMs();
      if (leftMs > 0) await sleep(leftMs, signal).catch(() => {});
    },
    /** A call that has waited was not throttled again. */
    helped(): void {
      inVainSinceMs = null;
    },
  };
}
