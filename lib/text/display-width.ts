import stringWidth from "string-width";

/** Every character is one column wide. */
const PLAIN = /^[\x20-\x7e]*$/;

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

/** The characters that a person sees, each of one or more code points. */
export function visibleCharacters(text: string): string[] {
  graphemes ??= new Intl.Segmenter("und", { granularity: "grapheme" });
  return Array.from(graphemes.segment(text), ({ segment }) => segment);
}

/** `text` with blanks in each word that is wider than `columns`, so that every piece fits. */
export function breakWords(text: string, columns: number): string {
  const most = Math.max(1, columns);
  return text.replace(/[^ ]+/g, (word) =>
    displayWidth(word) <= most ? word : piecesOf(word, most).join(" "),
  );
}

function piecesOf(word: string, columns: number): string[] {
  const pieces: string[] = [];
  let piece = "";
  for (const character of visibleCharacters(word)) {
    if (piece !== "" && displayWidth(piece + character) > columns) {
      pieces.push(piece);
      piece = "";
    }
    piece += character;
  }
  return [...pieces, piece];
}
