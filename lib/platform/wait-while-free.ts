import { setTimeout as delay } from "node:timers/promises";

/** How often it looks whether the process is free: a turn that comes late counts as one that came in time. */
const TURN_MS = 100;

/** When the wait ends sooner (`signal`), and when it ends although the process was hardly ever free (`mostMs`). */
export type FreeWait = {
  mostMs: number;
  signal: AbortSignal;
  monotonicMs?: () => number;
  turn?: (ms: number, signal: AbortSignal) => Promise<void>;
};

/**
 * Waits for `ms` in which this process was free to see what comes in.
 *
 * Behaviour: while it computes, or waits for a processor on a host that is very busy, an answer that is there cannot be
 *            seen: that time does not count.
 * Units:     milliseconds.
 * Errors:    none thrown.
 */
export async function waitWhileFree(
  ms: number,
  { mostMs, signal, monotonicMs = () => performance.now(), turn = pause }: FreeWait,
): Promise<void> {
  const endMs = monotonicMs() + mostMs;
  for (let freeMs = 0; freeMs < ms && monotonicMs() < endMs && !signal.aborted; freeMs += TURN_MS)
    await turn(Math.min(TURN_MS, ms - freeMs), signal);
}

/** An end that the signal brings is no failure. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => {});
}
