/**
 * How many may start now.
 *
 * Behaviour: `take` uses one of those that are available, `giveBack` returns the latest that did not start after all.
 * Units:     milliseconds of one monotonic clock.
 */
export type Rate = {
  available(nowMs: number): number;
  take(nowMs: number): void;
  giveBack(): void;
};
