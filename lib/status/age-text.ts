import { shortTime } from "./short-time.ts";

/** How far the clock that wrote a time may be ahead of the one that reads it. */
const CLOCK_TOLERANCE_MS = 60_000;

/** Whether a time is to come: then a clock was wrong, and the time says nothing about what runs now. */
export function isToCome(ageMs: number): boolean {
  return ageMs < -CLOCK_TOLERANCE_MS;
}

/** How long ago something was, for people. */
export function ageText(ageMs: number): string {
  return isToCome(ageMs)
    ? `at a time to come, in ${shortTime(-ageMs)} (see the clock)`
    : `${shortTime(ageMs)} ago`;
}
