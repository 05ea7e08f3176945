/** How many may start in a minute, and how many of them at once. */
export type RateLimit = { perMinute: number; burst: number };

/**
 * Says how many may start now.
 *
 * Behaviour: `take` uses one of those that are available, `giveBack` returns the latest that did not start after all.
 * Units:     milliseconds of one monotonic clock.
 */
export type RateLimiter = {
  available(nowMs: number): number;
  take(nowMs: number): void;
  giveBack(): void;
};
