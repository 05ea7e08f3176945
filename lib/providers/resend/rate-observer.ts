import type { PeerAnswer } from "../../platform/http/answer.ts";
import { parsePublishedRate } from "../../platform/http/published-rate.ts";
import type { Pace } from "../../platform/rate/pace.ts";
import { isQuota } from "./refusal.ts";

/**
 * Tells a pace the rate that each answer of the provider publishes.
 *
 * Behaviour: without a policy the window is the longest time to a reset seen so far: a reset counts down within it.
 */
export function rateObserver(pace: Pace): (answer: PeerAnswer) => void {
  let longestResetMs = 1_000;
  return (answer) => {
    const { limit, windowMs, remaining, resetMs, retryAfterMs } = parsePublishedRate(
      answer.headers,
      Date.now(),
    );
    longestResetMs = Math.max(longestResetMs, resetMs ?? 0);
    if (limit === null) pace.free();
    else pace.limit(limit, windowMs ?? longestResetMs);
    if (answer.status === 429 && !isQuota(answer)) pace.hold(retryAfterMs ?? resetMs ?? longestResetMs);
    else if (remaining === 0) pace.spent(resetMs ?? longestResetMs);
  };
}
