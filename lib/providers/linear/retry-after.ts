import { parsePublishedRate } from "../../platform/http/published-rate.ts";

const SHORTEST_MS = 1_000;
const LONGEST_MS = 3_600_000;

/**
 * How long to wait after the tracker refused a call because of its rate.
 *
 * Behaviour: `retry-after` where there is one, else the reset of the empty buckets, else the later reset of the two;
 *            without any of these the shortest wait, because both buckets refill all the time.
 * Units:     milliseconds, from a second to an hour.
 * Source:    github.com/linear/linear at 8335e09, `packages/sdk/src/error.ts`, read 2026-11-21. The header's unit is
 *            not documented, so the size of the number tells seconds from milliseconds.
 */
export function trackerRetryMs(headers: Headers, nowMs: number): number {
  const waitMs = parsePublishedRate(headers).retryAfterMs ?? untilReset(headers, nowMs) ?? SHORTEST_MS;
  return Math.min(Math.max(Math.ceil(waitMs), SHORTEST_MS), LONGEST_MS);
}

function untilReset(headers: Headers, nowMs: number): number | null {
  const buckets = ["requests", "complexity"].flatMap((name) => {
    const resetMs = parseEpoch(headers.get(`x-ratelimit-${name}-reset`));
    const isEmpty = headers.get(`x-ratelimit-${name}-remaining`)?.trim() === "0";
    return resetMs === null ? [] : [{ resetMs, isEmpty }];
  });
  const empty = buckets.filter((bucket) => bucket.isEmpty);
  const relevant = empty.length > 0 ? empty : buckets;
  return relevant.length === 0 ? null : Math.max(...relevant.map((bucket) => bucket.resetMs)) - nowMs;
}

// In seconds this is the year 5138, in milliseconds 1973.
const SMALLEST_MILLISECONDS = 100_000_000_000;

function parseEpoch(value: string | null): number | null {
  if (value === null || !/^\s*\d{1,15}(?:\.\d{1,9})?\s*$/.test(value)) return null;
  const epoch = Number(value);
  return epoch < SMALLEST_MILLISECONDS ? epoch * 1_000 : epoch;
}
