/** What the total of sockets calls for: an alert unless one went out a while ago, or the end of the episode. */
export type Decision = "above" | "at_or_below";

/**
 * Decides by the total alone; no other value ever alerts.
 *
 * Source: monitoring document, Socket monitor: more than the threshold, so reaching it exactly is not enough.
 */
export function decide(total: number, threshold: number): Decision {
  return total > threshold ? "above" : "at_or_below";
}
