import { escaped, escapeUnseen } from "./replace-unseen.ts";

/** What JSON leaves as it is and a terminal obeys: delete and the second set of control characters. */
const OBEYED = /[\u007F-\u009F]/g;

/**
 * `value` as JSON on one line that a terminal only shows, whatever names of tenants are in it.
 *
 * Behaviour: characters that cannot be seen, or that reorder a line, are written as escapes: a reader of JSON gets the
 *            same value.
 */
export function jsonText(value: unknown): string {
  return escapeUnseen(JSON.stringify(value).replace(OBEYED, escaped));
}
