import type { PeerAnswer } from "../../platform/http/answer.ts";
import { parsePublishedRate } from "../../platform/http/published-rate.ts";
import type { RateLimiter } from "../../platform/rate/rate-limiter.ts";
import { isQuota } from "./refusal.ts";

/** Calls are spread a little wider than published, so that one that arrives early gets no 429. */
const MARGIN = 1.04;

/**
 * The rate until an answer publishes another one.
 *
 * Source: resend.com/docs/api-reference/rate-limit, read 2026-11-21: five a second for a team.
 */
export const RESEND_PER_SECOND = 5 / MARGIN;

/**
 * Keeps a rate limiter to what each answer of the provider publishes.
 *
 * Behaviour: a provider that has never published a rate has none. Without a policy the window is the longest time to a
 *            reset seen so far: a reset counts down within it. A 429 stops all calls for as long as it says.
 */
export function rateObserver(rate: RateLimiter): (answer: PeerAnswer) => void {
  let longestResetMs = 1_000;
  let isPublished = false;
  return (answer) => {
    const { limit, windowMs, resetMs, retryAfterMs } = parsePublishedRate(answer.headers);
    longestResetMs = Math.max(longestResetMs, resetMs ?? 0);
    isPublished ||= limit !== null;
    if (limit !== null) rate.setRate((limit / (windowMs ?? longestResetMs) / MARGIN) * 1_000);
    else if (!isPublished && answer.status < 300) rate.setRate(null);
    if (answer.status === 429 && !isQuota(answer)) rate.pause(retryAfterMs ?? resetMs ?? longestResetMs);
  };
}
