/** The longest that a peer's word alone may keep alerts waiting: a proxy's limit may say an hour, or a day. */
const LONGEST_MS = 5 * 60_000;

/**
 * How long alerts wait for a peer that asks for patience.
 *
 * Units: milliseconds.
 */
export function alertPatience(askedMs: number): number {
  return Math.min(askedMs, LONGEST_MS);
}
