/**
 * A rate limiter (GCRA): a burst at once, then evenly at the rate.
 *
 * Shape:     `available` is how many may start now. `aheadMs` is for how long the rate is used up, 0 when all of the
 *            burst may start: all that another process has to know. `giveBack` returns one that did not start.
 * Behaviour: a clock that goes back changes nothing.
 * Units:     milliseconds of a monotonic clock.
 */
export class RateLimit {
  readonly #intervalMs: number;
  readonly #burstMs: number;
  readonly #monotonicMs: () => number;
  /** When all of the burst may start again. */
  #restedAtMs = Number.NEGATIVE_INFINITY;

  constructor({ perMinute, burst }: { perMinute: number; burst: number }, monotonicMs: () => number) {
    this.#intervalMs = 60_000 / perMinute;
    this.#burstMs = burst * this.#intervalMs;
    this.#monotonicMs = monotonicMs;
  }

  get available(): number {
    // Thirty times a thirtieth is a little less than one in floating point.
    return Math.max(0, Math.floor((this.#burstMs - this.aheadMs) / this.#intervalMs + 1e-6));
  }

  get aheadMs(): number {
    return Math.max(0, this.#restedAtMs - this.#monotonicMs());
  }

  take(): void {
    this.#restedAtMs = this.#monotonicMs() + this.aheadMs + this.#intervalMs;
  }

  giveBack(): void {
    this.#restedAtMs -= this.#intervalMs;
  }

  /** Goes on where another process stopped; null: that is not known, so the burst counts as used up. */
  resume(aheadMs: number | null): void {
    this.#restedAtMs = this.#monotonicMs() + Math.max(this.aheadMs, aheadMs ?? this.#burstMs);
  }
}
