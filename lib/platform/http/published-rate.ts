const LONGEST_MS = 3_600_000;
const LARGEST_LIMIT = 10_000;

/**
 * Reads `ratelimit-limit`, `-reset`, `-policy` and `retry-after`; each part is null when absent or out of bounds.
 *
 * Units:     milliseconds; `limit` is requests. `windowMs` is null when only the limit is published.
 * Behaviour: numbers out of bounds count as absent, waits are cut to an hour: a header must not stop a run. A time to
 *            wait for is counted from the answer's own `date`: this host's clock may be wrong.
 * Source:    resend.com/docs/api-reference/rate-limit, read 2026-11-21; RFC 9110, Retry-After.
 */
export function parsePublishedRate(headers: Headers) {
  const [, policyLimit, seconds] =
    /^\s*(\d{1,6})\s*;\s*w=(\d{1,6})\s*(?:[;,]|$)/.exec(headers.get("ratelimit-policy") ?? "") ?? [];
  const windowMs = Number(seconds) * 1_000;
  const isPolicy = parseLimit(policyLimit) !== null && windowMs >= 1_000 && windowMs <= LONGEST_MS;
  return {
    limit: parseLimit(headers.get("ratelimit-limit")) ?? (isPolicy ? Number(policyLimit) : null),
    windowMs: isPolicy ? windowMs : null,
    resetMs: parseSeconds(headers.get("ratelimit-reset")),
    retryAfterMs: parseSeconds(headers.get("retry-after")) ?? untilRetry(headers),
  };
}

function parseLimit(value: string | null | undefined): number | null {
  const limit = /^\s*\d{1,9}\s*$/.test(value ?? "") ? Number(value) : 0;
  return limit >= 1 && limit <= LARGEST_LIMIT ? limit : null;
}

/** Seconds as milliseconds. */
function parseSeconds(value: string | null): number | null {
  if (!/^\s*\d{1,9}(?:\.\d{1,9})?\s*$/.test(value ?? "")) return null;
  return Math.min(Math.ceil(Number(value) * 1_000), LONGEST_MS);
}

const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} [\d:]{8} GMT$/;

function untilRetry(headers: Headers): number | null {
  const [retryAt = "", date = ""] = ["retry-after", "date"].map((name) => headers.get(name) ?? "");
  const ms = HTTP_DATE.test(retryAt) ? Date.parse(retryAt) - Date.parse(date) : Number.NaN;
  return Number.isNaN(ms) ? null : Math.min(Math.max(ms, 0), LONGEST_MS);
}
