import { singleLine } from "./single-line.ts";
import { truncate } from "./truncate.ts";

/** How much is read of a text for each unit that is kept of it: what is cleaned away seldom fills more. */
const READ_PER_UNIT = 8;

/**
 * A text of any length as one clean line of at most `maxUnits` UTF-16 units.
 *
 * Shape: as `singleLine` and `truncate` leave it; the empty string where nothing visible is left.
 * Behaviour: reads the beginning alone, so that a text of megabytes costs no more than a long sentence.
 */
export function boundedLine(text: string, maxUnits: number): string {
  const readUnits = READ_PER_UNIT * maxUnits;
  const line = singleLine(text.slice(0, readUnits));
  return truncate(text.length > readUnits && line !== "" ? `${line}…` : line, maxUnits);
}
