import { singleLine } from "./single-line.ts";

/** A shaft of dashes or its like with a head, and the arrows that are one character. */
const ARROWS =
  /[-~=_\p{Pd}\u2212\u2500-\u257f]+ ?[>\u203a\u00bb\u2023\u25b6\u25b8\u25ba\u276f\u27e9\u3009\uff1e]+|[\u2190-\u21ff\u2794-\u27be\u27f0-\u27ff\u2900-\u297f\u2b00-\u2b11\u2b30-\u2b4f\u2b5a-\u2bb8\uffe9-\uffec\u{1f800}-\u{1f8ff}]/gu;

/**
 * The words of another account as one line, in which nothing looks like the arrow that stands before opsctl's own
 * advice.
 *
 * Behaviour: a word that is wider than a terminal ends its line, so that what comes then begins the next one: with an
 *            arrow it would be the line that a person copies into root's shell.
 */
export function withoutArrows(text: string): string {
  return singleLine(text).replace(ARROWS, "-");
}
