import { isToCome } from "../time/to-come.ts";
import { shortTime } from "./short-time.ts";

/** How long ago something was, for people. */
export function ageText(ageMs: number): string {
  return isToCome(ageMs)
    ? `at a time to come, in ${shortTime(-ageMs)} (see the clock)`
    : `${shortTime(ageMs)} ago`;
}
