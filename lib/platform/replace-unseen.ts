import process from "node:process";

const SEPARATORS = String.raw`\u2028\u2029`;
/** A cell of braille without a dot, and what hides an annotation: Unicode does not call them ignorable. */
const ALSO_UNSEEN = String.raw`\u2800\uFFF9-\uFFFB`;
/** The first of them has every direction mark and override, too. */
const UNSEEN = String.raw`[\p{Default_Ignorable_Code_Point}${SEPARATORS}${ALSO_UNSEEN}]`;

/** The scripts that join, or part, two of their letters with a joiner. */
const JOINING = [
  ...["Arabic", "Syriac", "Devanagari", "Bengali", "Gurmukhi", "Gujarati", "Oriya", "Tamil", "Telugu"],
  ...["Kannada", "Malayalam", "Sinhala"],
].map((name) => String.raw`\p{Script_Extensions=${name}}`);
const JOINED = `[${JOINING.join("")}]`;
/** No letter goes on, nor anything that would be taken away, so that a joiner ends its word. */
const WORD_END = String.raw`(?![\p{L}\p{M}\p{N}\p{Default_Ignorable_Code_Point}${SEPARATORS}${ALSO_UNSEEN}])`;
const EMOJI = String.raw`\p{Extended_Pictographic}`;

/** A character at the place where it changes how the one before it looks, as people write it. */
const IN_PLACE = [
  String.raw`${EMOJI}[\uFE0E\uFE0F]`,
  String.raw`[0-9#*]\uFE0F(?=\u20E3)`,
  String.raw`${EMOJI}(?:\uFE0F|\p{Emoji_Modifier})?\u200D(?=${EMOJI})`,
  String.raw`${JOINED}[\u200C\u200D](?:(?=${JOINED})|${WORD_END})`,
  String.raw`(?=\p{L})\p{Script=Mongolian}[\u180B-\u180D\u180F]`,
  String.raw`\p{Unified_Ideograph}[\uFE00-\uFE02\u{E0100}-\u{E01EF}]`,
].join("|");

/** England's, Scotland's, Wales' and such: a black flag, then tags that spell the region. */
const REGIONAL_FLAG = String.raw`\u{1F3F4}[\u{E0030}-\u{E0039}\u{E0061}-\u{E007A}]{3,6}\u{E007F}`;

/** Made at the first text that is not plain: its classes cost a short command a tenth of a millisecond. */
let pattern: RegExp | undefined;
const PLAIN = /^[\n\x20-\x7E]*$/;
const FLAG = "\u{1F3F4}";

/**
 * `text` with `replacement` for each character that cannot be seen, or that reorders or breaks the line: direction
 * marks and overrides, fillers, tags, zero-width blanks, separators of lines.
 *
 * Behaviour: what people write stays: joiners and variation selectors inside an emoji, flags of regions, joiners
 *            between letters of Arabic and Indian scripts and at the end of their words, variants of ideographs and of
 *            Mongolian letters. Control characters stay, too: they are not decided here.
 * Source:    Unicode, DerivedCoreProperties.txt (Default_Ignorable_Code_Point); UTS #51, emoji sequences.
 */
export function replaceUnseen(text: string, replacement: (character: string) => string): string {
  if (PLAIN.test(text)) return text;
  // A flag goes first, so that its tags are not taken one by one.
  pattern ??= new RegExp(`${REGIONAL_FLAG}|${UNSEEN}(?<!${IN_PLACE})`, "gu");
  return text.replace(pattern, (found) => (found.startsWith(FLAG) ? found : replacement(found)));
}

/** `text` with each of these characters as its JSON escape, so that a name made to look like another one does not. */
export function escapeUnseen(text: string): string {
  return replaceUnseen(text, escaped);
}

/** Two escapes for a character of two units: they are the same character in JSON. */
export function escaped(character: string): string {
  const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
}

const CONTROLS = /[^\P{Cc}\n\t]/gu;

/**
 * `text` without control characters, and with each unseen character as its escape: a peer's text must not move the
 * reader's cursor or repaint the screen.
 *
 * Behaviour: line breaks and tabs stay.
 */
export function withoutControls(text: string): string {
  const visible = escapeUnseen(text);
  if (visible.search(CONTROLS) === -1) return visible;
  // Loaded for the rare text that has one: it takes a tenth of the start of a command.
  const { stripVTControlCharacters } = process.getBuiltinModule("node:util");
  return stripVTControlCharacters(visible).replace(CONTROLS, "");
}
