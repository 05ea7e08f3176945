/**
 * `instant` as payloads, request bodies and summaries write it: UTC, ISO 8601, `Z`.
 *
 * Shape: 2026-11-16T03:00:00Z; a fraction of a second only where there is one, without trailing zeros.
 */
export function formatInstant(instant: Temporal.Instant): string {
  return instant.toString();
}
