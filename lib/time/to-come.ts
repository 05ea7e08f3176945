/** How far the clock that wrote a time may be ahead of the one that reads it. */
const CLOCK_TOLERANCE_MS = 60_000;

/** Whether a time of this age is to come: then a clock was wrong, and it says nothing about what runs now. */
export function isToCome(ageMs: number): boolean {
  return ageMs < -CLOCK_TOLERANCE_MS;
}
