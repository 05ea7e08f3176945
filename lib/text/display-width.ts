import stringWidth from "string-width";

/** Every character is one column wide. */
const PLAIN = /^[\x20-\x7e]*$/;

const ELLIPSIS = "…";

/** Made at the first text that is not plain: a segmenter costs milliseconds. */
let graphemes: Intl.Segmenter | undefined;

/**
 * How many columns of a terminal `text` takes, which has no line breaks.
 *
 * Source: the package string-width: visible characters of Intl.Segmenter, widths of Unicode's EastAsianWidth.txt.
 */
export function displayWidth(text: string): number {
  return PLAIN.test(text) ? text.length : stringWidth(text);
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
  const room = columns - ELLIPSIS.length;
  return room < 0 ? "" : startOf(text, room).trimEnd() + ELLIPSIS;
}

/** `text` in pieces of at most `columns` columns, broken between visible characters; one alone may be wider. */
export function piecesOf(text: string, columns: number): string[] {
  const pieces: string[] = [];
  let [piece, taken] = ["", 0];
  for (const character of visibleCharacters(text)) {
    const width = displayWidth(character);
    if (piece !== "" && taken + width > columns) {
      pieces.push(piece);
      [piece, taken] = ["", 0];
    }
    piece += character;
    taken += width;
  }
  return [...pieces, piece];
}

function startOf(text: string, columns: number): string {
  let [kept, left] = ["", columns];
  for (const character of visibleCharacters(text)) {
    left -= displayWidth(character);
    if (left < 0) break;
    kept += character;
  }
  return kept;
}

function visibleCharacters(text: string): string[] {
  graphemes ??= new Intl.Segmenter("und", { granularity: "grapheme" });
  return Array.from(graphemes.segment(text), ({ segment }) => segment);
}
