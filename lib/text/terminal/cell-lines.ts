import { displayWidth, piecesOf } from "../display-width.ts";
import { wrapText } from "../wrap.ts";

/**
 * A cell's text in lines of at most `width` columns, broken between words; the lines behind the first begin with
 * `indent`.
 *
 * Behaviour: a word that is longer than that is broken between visible characters.
 */
export function cellLines(text: string, width: number, indent = ""): string[] {
  if (displayWidth(text) <= width) return [text];
  const room = Math.max(1, width - indent.length);
  return wrapText(brokenWords(text, room), width, indent, displayWidth);
}

/** Pieces of a word are as wide as the line, so that they never come to stand beside each other. */
function brokenWords(text: string, width: number): string {
  return text.replace(/[^ ]+/g, (word) =>
    displayWidth(word) <= width ? word : piecesOf(word, width).join(" "),
  );
}
