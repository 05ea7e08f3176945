/** Every character is one column wide. */
const PLAIN = /^[\x20-\x7e]*$/;

/** Shown on top of another character, or not at all. */
const ZERO_WIDTH = /^[\p{Mn}\p{Me}\p{Cf}\p{Cc}]+$/u;

/** Two columns wide: pictures, and the blocks of Unicode's EastAsianWidth.txt that are Wide or Fullwidth. */
const WIDE =
  /\uFE0F|[\p{Emoji_Presentation}\u1100-\u115F\u2E80-\u303E\u3041-\uA4CF\uA960-\uA97F\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF01-\uFF60\uFFE0-\uFFE6\u{16FE0}-\u{18DFF}\u{1AFF0}-\u{1B2FF}\u{20000}-\u{3FFFD}]/u;

const ELLIPSIS = "…";

/** Made at the first text that is not plain: a segmenter costs milliseconds. */
let graphemes: Intl.Segmenter | undefined;

/** How many columns of a terminal `text` takes, which has no line breaks. */
export function displayWidth(text: string): number {
  if (PLAIN.test(text)) return text.length;
  return visibleCharacters(text).reduce((sum, character) => sum + widthOf(character), 0);
}

/** `text` padded with blanks to `columns` columns; a wider one is left as it is. */
export function padToWidth(text: string, columns: number): string {
  return text + " ".repeat(Math.max(0, columns - displayWidth(text)));
}

/**
 * `text` in at most `columns` columns, with "…" at the end where something was left out.
 *
 * Behaviour: never cuts inside a visible character; returns the empty string where not even the "…" fits.
 */
export function fitToWidth(text: string, columns: number): string {
  if (displayWidth(text) <= columns) return text;
  let kept = "";
  let left = columns - ELLIPSIS.length;
  if (left < 0) return "";
  for (const character of visibleCharacters(text)) {
    left -= widthOf(character);
    if (left < 0) break;
    kept += character;
  }
  return kept.trimEnd() + ELLIPSIS;
}

function visibleCharacters(text: string): string[] {
  graphemes ??= new Intl.Segmenter("und", { granularity: "grapheme" });
  return Array.from(graphemes.segment(text), ({ segment }) => segment);
}

function widthOf(character: string): number {
  if (ZERO_WIDTH.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
}
