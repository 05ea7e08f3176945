import { visibleCharacters } from "./display-width.ts";
import { singleLine } from "./single-line.ts";

const ELLIPSIS = "…";

/** How far back a cut may move to fall between two words. */
const WORD_REACH_UNITS = 24;

/** `app.conf` must not become `app.co`: half of a file's ending may be a domain. */
const HALF_ENDING = /(?<=\S)\.\p{L}{1,8}$/u;

/**
 * `text` in at most `maxUnits` UTF-16 units, with "…" where something was left out.
 *
 * Behaviour: cuts between words where a blank is near, because half a number is a wrong number; never inside a visible
 *            character or a file's ending. Returns the empty string where not even one character and the "…" fit.
 */
export function truncate(text: string, maxUnits: number): string {
  if (text.length <= maxUnits) return text;
  const budget = maxUnits - ELLIPSIS.length;
  const kept = betweenWords(text, wholeCharacters(text, budget)).trimEnd();
  return kept === "" ? "" : kept + ELLIPSIS;
}

/** How much is read of a text for each unit that is kept of it: what is cleaned away seldom fills more. */
const READ_PER_UNIT = 8;

/** A text of any length as one clean line of at most `maxUnits`; only its beginning is read. */
export function boundedLine(text: string, maxUnits: number): string {
  const line = singleLine(text.slice(0, READ_PER_UNIT * maxUnits));
  const isCut = text.length > READ_PER_UNIT * maxUnits && line !== "";
  return truncate(isCut ? `${line}…` : line, maxUnits);
}

/** The longest start of `text` that fits in `budget` units and ends between two visible characters. */
function wholeCharacters(text: string, budget: number): string {
  let end = 0;
  // The code point after a character tells whether it is complete: two more units are enough.
  for (const { length } of visibleCharacters(text.slice(0, Math.max(0, budget) + 2))) {
    if (end + length > budget) break;
    end += length;
  }
  return text.slice(0, end);
}

function betweenWords(text: string, kept: string): string {
  if (/^\s/u.test(text.slice(kept.length))) return kept;
  const blank = kept.lastIndexOf(" ");
  if (blank > 0 && kept.length - blank <= WORD_REACH_UNITS) return kept.slice(0, blank);
  return /^\p{L}/u.test(text.slice(kept.length)) ? kept.replace(HALF_ENDING, "") : kept;
}
