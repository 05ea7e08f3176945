/**
 * `instant` as text for payloads, request bodies and summaries: UTC, ISO 8601, `Z`.
 *
 * Shape: 2026-11-16T03:00:00Z; a fraction of a second only where there is one, without trailing zeros.
 */
export function formatInstant(instant: Temporal.Instant): string {
  return instant.toString();
}
