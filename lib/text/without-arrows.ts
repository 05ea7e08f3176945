import { singleLine } from "./single-line.ts";

/** Symbols and letters of other scripts: among them are arrows, their shafts and their heads, and more come each year. */
const OTHERS = /[^\p{Script=Latin}\x20-\x7e]+/gu;
const ARROWS = /[-~=_.]+(?: ?>)+/g;

/**
 * The words of another account as one line of Latin letters and ASCII, in which nothing looks like the arrow that stands
 * before opsctl's own advice.
 *
 * Behaviour: a word that is wider than a terminal ends its line, so that what comes then begins the next one: with an
 *            arrow it would be the line that a person copies into root's shell. What looks like ASCII becomes ASCII
 *            (NFKC), and every other character a dash.
 */
export function withoutArrows(text: string): string {
  return singleLine(text).normalize("NFKC").replace(OTHERS, "-").replace(ARROWS, "-");
}
