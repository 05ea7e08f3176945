/** Direction marks and overrides, fillers, tags, separators of lines, a braille cell without a dot, annotations. */
const UNSEEN = String.raw`[\p{Default_Ignorable_Code_Point}\u2028\u2029\u2800\uFFF9-\uFFFB]`;
const CHANGED = String.raw`(?!\p{Default_Ignorable_Code_Point})[\p{Lo}\p{M}\p{Extended_Pictographic}\p{Emoji_Modifier}]`;
/** Joiners and variation selectors behind what they change: letters of scripts without case, accents, emoji, keycaps. */
const IN_PLACE = [
  String.raw`(?<=${CHANGED})[\u180B-\u180D\u180F\u200C\u200D\uFE00-\uFE0F\u{E0100}-\u{E01EF}]`,
  String.raw`(?<=\p{Extended_Pictographic}\uFE0F)\u200D`,
  String.raw`(?<=[0-9#*])\uFE0F(?=\u20E3)`,
].join("|");

/** Made at the first text that is not plain: its classes cost a short command a tenth of a millisecond. */
let pattern: RegExp | undefined;
const PLAIN = /^[\n\x20-\x7E]*$/;

/**
 * `text` with `replacement` for each character that cannot be seen, or that reorders or breaks the line.
 *
 * Behaviour: what people write stays: joiners and variation selectors behind a letter, an accent or an emoji. Control
 *            characters stay.
 * Source:    Unicode, DerivedCoreProperties.txt (Default_Ignorable_Code_Point); UTS #51, emoji sequences.
 */
export function replaceUnseen(text: string, replacement: (character: string) => string): string {
  if (PLAIN.test(text)) return text;
  pattern ??= new RegExp(`(?!${IN_PLACE})${UNSEEN}`, "gu");
  return text.replace(pattern, replacement);
}

/** Two escapes for a character of two units: they are the same character in JSON. */
function escaped(character: string): string {
  const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
}

/** `text` without control characters but line breaks and tabs, and with each unseen character as its JSON escape. */
export function withoutControls(text: string): string {
  return replaceUnseen(text, escaped).replace(/[^\P{Cc}\n\t]/gu, "");
}

/**
 * `value` as JSON on one line that a terminal only shows: control characters and unseen ones are written as escapes,
 * which a reader of JSON takes for the same value.
 */
export function jsonText(value: unknown): string {
  return replaceUnseen(JSON.stringify(value).replace(/[\u007F-\u009F]/g, escaped), escaped);
}
