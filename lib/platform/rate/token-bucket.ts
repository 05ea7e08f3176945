/** How many may start in a minute, and how many of them at once. */
export type BurstLimit = { perMinute: number; burst: number };

/**
 * Says how many may start now; `take` uses one of them, `giveBack` returns one that did not start.
 *
 * Units: milliseconds of one monotonic clock; one that goes back changes nothing.
 */
export type StartQuota = {
  available(nowMs: number): number;
  take(nowMs: number): void;
  giveBack(): void;
};

/** A quota that begins full: `burst` starts at once, then `perMinute`, evenly spread. */
export class TokenBucket implements StartQuota {
  readonly #limit: BurstLimit;
  #tokens: number;
  #countedAtMs: number;

  constructor(limit: BurstLimit, nowMs: number) {
    this.#limit = limit;
    this.#tokens = limit.burst;
    this.#countedAtMs = nowMs;
  }

  /** How long an empty bucket takes to be full. */
  get fillMs(): number {
    return (this.#limit.burst / this.#limit.perMinute) * 60_000;
  }

  available(nowMs: number): number {
    const { perMinute, burst } = this.#limit;
    const elapsedMs = Math.max(0, nowMs - this.#countedAtMs);
    this.#tokens = Math.min(burst, this.#tokens + (elapsedMs * perMinute) / 60_000);
    this.#countedAtMs += elapsedMs;
    // Thirty times a thirtieth is a little less than one in floating point.
    return Math.floor(this.#tokens + 1e-9);
  }

  take(nowMs: number): void {
    if (this.available(nowMs) < 1) throw new RangeError("A token was taken from an empty bucket");
    this.#tokens -= 1;
  }

  giveBack(): void {
    this.#tokens = Math.min(this.#limit.burst, this.#tokens + 1);
  }

  /** Restarts as if `spent` had been used within the time that the burst takes to fill. */
  restart(nowMs: number, spent: number): void {
    this.#tokens = Math.max(0, this.#limit.burst - spent);
    this.#countedAtMs = nowMs;
  }
}
