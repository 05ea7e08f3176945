/**
 * What an answer says about the peer's rate; each part is null when absent or out of bounds.
 *
 * Units: milliseconds; `limit` is requests. `windowMs` is null when only the limit is published.
 */
export type PublishedRate = {
  limit: number | null;
  windowMs: number | null;
  resetMs: number | null;
  retryAfterMs: number | null;
};

const LONGEST_MS = 3_600_000;
const LARGEST_LIMIT = 10_000;

/**
 * Reads `ratelimit-limit`, `-reset`, `-policy` and `retry-after`.
 *
 * Behaviour: numbers out of bounds count as absent, waits are cut to an hour: a peer's header must not stop a run. A
 *            time to wait for is counted from the answer's own `date`, because this host's clock may be wrong; without
 *            one from `nowMs`.
 * Source:    resend.com/docs/api-reference/rate-limit, read 2026-11-21; RFC 9110, Retry-After.
 */
export function parsePublishedRate(headers: Headers, nowMs: number): PublishedRate {
  const policy = parsePolicy(headers.get("ratelimit-policy"));
  const resetSeconds = parseNumber(headers.get("ratelimit-reset"));
  return {
    limit: parseLimit(headers.get("ratelimit-limit")) ?? policy?.limit ?? null,
    windowMs: policy?.windowMs ?? null,
    resetMs: resetSeconds === null ? null : boundedMs(resetSeconds * 1000),
    retryAfterMs: parseRetryAfter(headers.get("retry-after"), parseDate(headers.get("date")) ?? nowMs),
  };
}

function parsePolicy(value: string | null): { limit: number; windowMs: number } | null {
  const match = /^\s*(\d{1,6})\s*;\s*w=(\d{1,6})\s*(?:[;,]|$)/.exec((value ?? "").slice(0, 200));
  const limit = parseLimit(match?.[1] ?? null);
  const seconds = Number(match?.[2] ?? 0);
  return limit === null || seconds < 1 || seconds * 1000 > LONGEST_MS
    ? null
    : { limit, windowMs: seconds * 1000 };
}

function parseLimit(value: string | null): number | null {
  const limit = parseCount(value);
  return limit === null || limit < 1 || limit > LARGEST_LIMIT ? null : limit;
}

function parseCount(value: string | null): number | null {
  return value !== null && /^\s*\d{1,9}\s*$/.test(value) ? Number(value) : null;
}

function parseNumber(value: string | null): number | null {
  return value !== null && /^\s*\d{1,9}(?:\.\d{1,9})?\s*$/.test(value) ? Number(value) : null;
}

function parseRetryAfter(value: string | null, nowMs: number): number | null {
  const seconds = parseNumber(value);
  if (seconds !== null) return boundedMs(seconds * 1000);
  const at = parseDate(value);
  return at === null ? null : boundedMs(at - nowMs);
}

// Date.parse alone would take "-1" for a year.
function parseDate(value: string | null): number | null {
  if (
    value === null ||
    !/^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(value.trim())
  )
    return null;
  const at = Date.parse(value);
  return Number.isNaN(at) ? null : at;
}

function boundedMs(ms: number): number {
  return Math.min(Math.max(Math.ceil(ms), 0), LONGEST_MS);
}
