/**
 * What an answer says about the rate of its service; each part is null when absent or out of bounds.
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
const DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/**
 * Reads `ratelimit-limit`, `-reset`, `-policy` and `retry-after`.
 *
 * Behaviour: numbers out of bounds count as absent, waits are cut to an hour: a header must not stop a run. A time to
 *            wait for is counted from the answer's own `date`, because this host's clock may be wrong; without one from
 *            `nowMs`.
 * Source:    resend.com/docs/api-reference/rate-limit, read 2026-11-21; RFC 9110, Retry-After.
 */
export function parsePublishedRate(headers: Headers, nowMs: number): PublishedRate {
  const [, policyLimit, seconds] =
    /^\s*(\d{1,6})\s*;\s*w=(\d{1,6})\s*(?:[;,]|$)/.exec(headers.get("ratelimit-policy") ?? "") ?? [];
  const windowMs = Number(seconds) * 1_000;
  const isPolicy = parseLimit(policyLimit) !== null && windowMs >= 1_000 && windowMs <= LONGEST_MS;
  const retryAfter = headers.get("retry-after");
  const retryAtMs = parseDate(retryAfter);
  const untilMs = retryAtMs && boundedMs(retryAtMs - (parseDate(headers.get("date")) ?? nowMs));
  return {
    limit: parseLimit(headers.get("ratelimit-limit")) ?? (isPolicy ? Number(policyLimit) : null),
    windowMs: isPolicy ? windowMs : null,
    resetMs: parseSeconds(headers.get("ratelimit-reset")),
    retryAfterMs: parseSeconds(retryAfter) ?? untilMs,
  };
}

function parseLimit(value: string | null | undefined): number | null {
  const limit = /^\s*\d{1,9}\s*$/.test(value ?? "") ? Number(value) : 0;
  return limit >= 1 && limit <= LARGEST_LIMIT ? limit : null;
}

/** Seconds as milliseconds. */
function parseSeconds(value: string | null): number | null {
  return /^\s*\d{1,9}(?:\.\d{1,9})?\s*$/.test(value ?? "") ? boundedMs(Number(value) * 1_000) : null;
}

// Date.parse alone would take "-1" for a year.
function parseDate(value: string | null): number | null {
  const at = DATE.test(value?.trim() ?? "") ? Date.parse(value!) : Number.NaN;
  return Number.isNaN(at) ? null : at;
}

function boundedMs(ms: number): number {
  return Math.min(Math.max(Math.ceil(ms), 0), LONGEST_MS);
}
