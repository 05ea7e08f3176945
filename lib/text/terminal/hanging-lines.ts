import { displayWidth } from "../display-width.ts";
import { type ProseOptions, proseLines } from "./prose.ts";
import type { Screen } from "./screen.ts";

/** Below this nearly every word would have a line of its own. */
const NARROWEST_TEXT = 24;
/** Before a text that has no room beside its head. */
const BELOW = "      ";

/**
 * `head` with `text` beside it, on as many lines as the screen's width needs; those behind the first begin below the
 * text.
 *
 * Behaviour: broken as by `proseLines`. Where too little room is left beside `head`, the text stands below it. Without
 *            a terminal it is one line.
 */
export function hangingLines(
  head: string,
  text: string,
  { width, clean }: Pick<Screen, "width" | "clean">,
  options: Pick<ProseOptions, "hasCommand"> = {},
): string[] {
  if (width === null) return [head + clean(text)];
  const beside = displayWidth(head);
  if (width - beside >= NARROWEST_TEXT) {
    const [first, ...more] = proseLines(text, { width: width - beside, clean }, options);
    return [head + first, ...more.map((line) => " ".repeat(beside) + line)];
  }
  const below = proseLines(BELOW + text, { width, clean }, { ...options, indent: BELOW });
  return head.trim() === "" ? below : [head.trimEnd(), ...below];
}
