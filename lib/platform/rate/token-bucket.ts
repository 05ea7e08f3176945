import type { RateLimit, RateLimiter } from "./rate-limiter.ts";

/**
 * A limit that allows a burst: `burst` starts at once, then `perMinute`, evenly spread.
 *
 * Behaviour: `available` returns how many may start now; `take` uses one of them. A bucket begins full. A clock that
 *            goes back changes nothing.
 * Units:     milliseconds of one monotonic clock.
 */
export class TokenBucket implements RateLimiter {
  readonly #limit: RateLimit;
  #tokens: number;
  #countedAtMs: number;

  constructor(limit: RateLimit, nowMs: number) {
    this.#limit = limit;
    this.#tokens = limit.burst;
    this.#countedAtMs = nowMs;
  }

  available(nowMs: number): number {
    const { perMinute, burst } = this.#limit;
    const elapsedMs = Math.max(0, nowMs - this.#countedAtMs);
    this.#tokens = Math.min(burst, this.#tokens + (elapsedMs * perMinute) / 60_000);
    this.#countedAtMs = nowMs;
    // Thirty times a thirtieth is a little less than one in floating point.
    return Math.floor(this.#tokens + 1e-9);
  }

  /** Restarts as if `spent` had been used within the time that the burst takes to fill. */
  restart(nowMs: number, spent: number): void {
    this.#tokens = Math.max(0, this.#limit.burst - spent);
    this.#countedAtMs = nowMs;
  }

  /** How long an empty bucket takes to be full. */
  get fillMs(): number {
    return (this.#limit.burst / this.#limit.perMinute) * 60_000;
  }

  /** Gives back one that was taken for something that did not start after all. */
  giveBack(): void {
    this.#tokens = Math.min(this.#limit.burst, this.#tokens + 1);
  }

  take(nowMs: number): void {
    if (this.available(nowMs) < 1) throw new RangeError("A token was taken from an empty bucket");
    this.#tokens -= 1;
  }
}
