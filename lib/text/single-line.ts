/** Characters that reorder, hide or fake text: direction marks and overrides, zero-width blanks, tags' carrier. */
const INVISIBLE = /[\u00AD\u061C\u180E\u200B\u200E\u200F\u202A-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB]/gu;

/** Everything a client may show as a line break, and every other control character. */
const BREAKS_AND_CONTROLS = /[\s\p{Cc}\u2028\u2029]+/gu;

/** What shows nothing where nothing stands before it: blanks, fillers, joiners, variation selectors, tag characters. */
const UNSEEN_START = /^[\s\p{Default_Ignorable_Code_Point}\u2800]+/u;

/**
 * `text` as one line without hidden or reordered characters, for data that enters a message.
 *
 * Shape: line breaks and control characters become one blank, direction overrides and invisible characters go, broken
 *        surrogates become U+FFFD. Joiners inside emoji and accents stay; a text that shows nothing at all is the empty
 *        string, and none begins with what shows nothing.
 */
export function singleLine(text: string): string {
  return text
    .toWellFormed()
    .replace(INVISIBLE, "")
    .replace(BREAKS_AND_CONTROLS, " ")
    .replace(UNSEEN_START, "")
    .trim();
}
