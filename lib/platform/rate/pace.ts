import { fixedRate, PaceSchedule, publishedRate, type Rate } from "./pace-schedule.ts";

/**
 * Says when the next call to a peer may start, so that many calls keep to one rate.
 *
 * Behaviour: `turn` waits for its turn (first come, first served) and returns a release; call it in a `finally`, when
 *            the call has its answer or was not made; calling it twice does nothing. `tryTurn` returns null instead of
 *            waiting. `limit` sets the published rate, `free` says that the peer publishes none, `hold` stops all
 *            starts for a while (429), `spent` reports that the peer's window is used up, `perSecond` is the resulting
 *            rate or null. Without a known rate a pace gives one turn and keeps the others waiting until `limit`,
 *            `free` or that turn's release.
 * Units:     milliseconds of a monotonic clock.
 * Errors:    `turn` rejects with the signal's reason when it is aborted.
 */
export type Pace = {
  turn(signal?: AbortSignal): Promise<() => void>;
  tryTurn(): (() => void) | null;
  limit(count: number, windowMs: number): void;
  free(): void;
  hold(ms: number): void;
  spent(resetMs: number): void;
  perSecond(): number | null;
};

/** Settings of a pace; `perMinute` fixes the rate, without it the rate is learned from the peer's answers. */
export type PaceOptions = {
  perMinute?: number | undefined;
  nowMs?: (() => number) | undefined;
  sleep?: ((ms: number, signal: AbortSignal) => Promise<void>) | undefined;
};

/** A pace that never waits, whatever the peer says. */
export const noPace: Pace = {
  async turn(signal) {
    signal?.throwIfAborted();
    return () => {};
  },
  tryTurn: () => () => {},
  limit() {},
  free() {},
  hold() {},
  spent() {},
  perSecond: () => null,
};

/**
 * A pace for one peer, shared by all that call it.
 *
 * Behaviour: see `Pace`. No timer runs while no turn is waited for.
 */
export function createPace(options: PaceOptions = {}): Pace {
  const nowMs = options.nowMs ?? (() => performance.now());
  const schedule = new PaceSchedule();
  const fixed = options.perMinute !== undefined;
  if (options.perMinute !== undefined) schedule.setRate(fixedRate(options.perMinute));
  let learned = fixed;
  let probe: object | null = null;

  const queue = waitingLine(options.sleep ?? sleepMs, () => {
    if (!learned && probe !== null) return null;
    return schedule.waitMs(nowMs());
  });

  function learn(rate: Rate | null): void {
    if (!fixed) schedule.setRate(rate);
    learned = true;
    probe = null;
    queue.look();
  }

  function begin(): () => void {
    const turn = {};
    schedule.started(nowMs());
    if (!learned) probe = turn;
    return () => {
      if (probe !== turn) return;
      probe = null;
      queue.look();
    };
  }

  return {
    turn: (signal) => queue.join(signal, begin),
    tryTurn: () => (queue.isFree() ? begin() : null),
    limit(count, windowMs) {
      const known = schedule.rate;
      if (learned && known?.count === count && known.windowMs === windowMs) return;
      learn(publishedRate(count, windowMs));
    },
    free() {
      if (!learned) learn(null);
    },
    hold(ms) {
      schedule.hold(nowMs(), ms);
      queue.look();
    },
    spent(resetMs) {
      schedule.spent(nowMs(), resetMs);
      queue.look();
    },
    perSecond: () => (schedule.rate === null ? null : 1000 / schedule.rate.spacingMs),
  };
}

type WaitingLine = {
  join<T>(signal: AbortSignal | undefined, go: () => T): Promise<T>;
  look(): void;
  /** True when no owner waits and the next one would not wait either. */
  isFree(): boolean;
};

const LONGEST_NAP_MS = 60_000;

// Lets the first in line go when `waitMs` returns 0; null means: wait until `look` is called. There is one timer for
// the whole line, and `look` ends it early.
function waitingLine(
  sleep: (ms: number, signal: AbortSignal) => Promise<void>,
  waitMs: () => number | null,
): WaitingLine {
  const line: (() => void)[] = [];
  let nap: AbortController | null = null;

  async function walk(): Promise<void> {
    while (line.length > 0) {
      const ms = waitMs();
      if (ms === null) return;
      if (ms === 0) {
        line.shift()?.();
        continue;
      }
      nap = new AbortController();
      await sleep(Math.min(ms, LONGEST_NAP_MS), nap.signal);
      nap = null;
    }
  }

  function look(): void {
    if (nap === null) void walk();
    else nap.abort();
  }

  return {
    look,
    isFree: () => line.length === 0 && waitMs() === 0,
    join(signal, go) {
      if (signal?.aborted) return Promise.reject(signal.reason);
      return new Promise((resolve, reject) => {
        const leave = () => {
          line.splice(line.indexOf(step), 1);
          reject(signal?.reason);
          look();
        };
        const step = () => {
          signal?.removeEventListener("abort", leave);
          resolve(go());
        };
        signal?.addEventListener("abort", leave, { once: true });
        line.push(step);
        if (nap === null) void walk();
      });
    },
  };
}

function sleepMs(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end, { once: true });
  });
}
