/** A rate: `count` starts in any `windowMs`, one every `spacingMs`. */
export type Rate = { count: number; windowMs: number; spacingMs: number };

// Starts are spread evenly and a little wider than published, so that a call that arrives early gets no 429.
const MARGIN = 1.04;
const KEPT_WITHOUT_RATE = 100;

/** The rate that stays below a published limit of `count` calls in each `windowMs`. */
export function publishedRate(count: number, windowMs: number): Rate {
  return { count, windowMs, spacingMs: (windowMs / count) * MARGIN };
}

/** The rate of an operator's setting: exactly `perMinute`, evenly spread. */
export function fixedRate(perMinute: number): Rate {
  return { count: 1, windowMs: 0, spacingMs: 60_000 / perMinute };
}

/**
 * When the next call may start, given the earlier starts; without a clock or timers of its own.
 *
 * Behaviour: `waitMs` returns how long to wait at `nowMs`; `started` records a start; `hold` lets nothing start for a
 *            while; so does `spent`, but only when others share the quota: our own starts leave room by their spacing.
 * Units:     milliseconds of one monotonic clock.
 */
export class PaceSchedule {
  #rate: Rate | null = null;
  #starts: number[] = [];
  #dueMs = Number.NEGATIVE_INFINITY;
  #heldUntilMs = Number.NEGATIVE_INFINITY;

  get rate(): Rate | null {
    return this.#rate;
  }

  setRate(rate: Rate | null): void {
    this.#rate = rate;
    const last = this.#starts.at(-1);
    if (rate !== null && last !== undefined) this.#dueMs = last + rate.spacingMs;
  }

  waitMs(nowMs: number): number {
    if (this.#rate === null) return Math.max(0, this.#heldUntilMs - nowMs);
    return Math.max(0, Math.max(this.#dueMs, this.#heldUntilMs, this.#windowOpensMs(this.#rate)) - nowMs);
  }

  // A late start does not move the schedule; `#windowOpensMs` keeps that from overfilling a window.
  started(nowMs: number): void {
    this.#starts.push(nowMs);
    if (this.#starts.length > (this.#rate?.count ?? KEPT_WITHOUT_RATE)) this.#starts.shift();
    if (this.#rate === null) return;
    const { spacingMs } = this.#rate;
    this.#dueMs = (nowMs - this.#dueMs < spacingMs ? this.#dueMs : nowMs) + spacingMs;
  }

  hold(nowMs: number, ms: number): void {
    this.#heldUntilMs = Math.max(this.#heldUntilMs, nowMs + ms);
  }

  spent(nowMs: number, resetMs: number): void {
    const rate = this.#rate;
    const since = nowMs - (rate?.windowMs ?? 0);
    const own = this.#starts.filter((at) => at > since).length;
    if (rate === null || own < rate.count - 1) this.hold(nowMs, resetMs);
  }

  #windowOpensMs({ count, windowMs }: Rate): number {
    const oldest = this.#starts.at(-count);
    return oldest === undefined ? Number.NEGATIVE_INFINITY : oldest + windowMs;
  }
}
