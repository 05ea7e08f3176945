import { displayWidth } from "../display-width.ts";
import { wrapText } from "../wrap.ts";
import type { Screen } from "./screen.ts";

/** Below this nearly every word would have a line of its own. */
const NARROWEST_TEXT = 24;
/** Before a text that has no room beside its head. */
const BELOW = "      ";

/**
 * `head` with `text` beside it, on as many lines as the screen's width needs; those behind the first begin below the text.
 *
 * Behaviour: broken between words only. Where too little room is left beside `head`, the text stands below it. Without a
 *            terminal it is one line.
 */
export function hangingLines(
  head: string,
  text: string,
  { width, clean }: Pick<Screen, "width" | "clean">,
): string[] {
  const cleaned = clean(text);
  if (width === null) return [head + cleaned];
  const beside = displayWidth(head);
  if (width - beside >= NARROWEST_TEXT) {
    const [first, ...more] = wrapText(cleaned, width - beside, "", displayWidth);
    return [head + first, ...more.map((line) => " ".repeat(beside) + line)];
  }
  const below = wrapText(BELOW + cleaned, width, BELOW, displayWidth);
  return head.trim() === "" ? below : [head.trimEnd(), ...below];
}
