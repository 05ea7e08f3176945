import { replaceUnseen } from "../platform/replace-unseen.ts";

/** They part two words; every other unseen character stands inside a word. */
const SEPARATORS = /[\u2028\u2029]/g;

/** Everything else that a client may show as a line break, and every other control character. */
const BREAKS_AND_CONTROLS = /[\s\p{Cc}]+/gu;

/**
 * `text` as one line without hidden or reordered characters, for data that enters a message.
 *
 * Shape: line breaks and control characters become one blank, direction overrides and invisible characters go, broken
 *        surrogates become U+FFFD. Joiners inside emoji and accents stay, as `replaceUnseen` says; a text that shows
 *        nothing at all is the empty string.
 */
export function singleLine(text: string): string {
  const line = text.toWellFormed().replace(SEPARATORS, " ");
  return replaceUnseen(line, () => "")
    .replace(BREAKS_AND_CONTROLS, " ")
    .trim();
}
