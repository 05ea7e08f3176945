import type { Fix } from "../../platform/errors.ts";
import { displayWidth, padToWidth, piecesOf } from "../display-width.ts";
import { wrapText } from "../wrap.ts";
import { paint, type Screen } from "./screen.ts";

/** Below this nearly every word would have a line of its own. */
const NARROWEST_TEXT = 24;
/** The width of a next step in a file or a pipe. */
const STEP_WIDTH = 100;
const NO_BREAK = "\u00a0";

/** `indent`: the beginning of the lines after the first; `breaksWords`: a word longer than a line is broken as well. */
export type ProseOptions = { indent?: string; breaksWords?: boolean };

/** A command in a line for people, which `proseLines` never breaks, so that it can be copied. */
export function unbroken(command: string): string {
  return command.replaceAll(" ", NO_BREAK);
}

/**
 * A line for people as lines of the screen's width, broken between words.
 *
 * Behaviour: words such as ids are whole unless `breaksWords` is set. Without a terminal it is one line.
 */
export function proseLines(
  line: string,
  { width, clean }: Pick<Screen, "width" | "clean">,
  { indent = "", breaksWords = false }: ProseOptions = {},
): string[] {
  const text = clean(line);
  if (width === null || displayWidth(text) <= width) return [text.replaceAll(NO_BREAK, " ")];
  const words = breaksWords ? brokenWords(text, width - indent.length) : text;
  return wrapText(words, width, indent, displayWidth).map((one) => one.replaceAll(NO_BREAK, " ").trimEnd());
}

/** Some lines for people, each wrapped as by `proseLines`, as text. */
export function prose(lines: readonly string[], screen: Screen, options: ProseOptions = {}): string {
  return lines
    .flatMap((line) => proseLines(line, screen, options))
    .map((line) => `${line}\n`)
    .join("");
}

/** A next step for people on indented lines. */
export function stepLines(step: string, { width, clean }: Pick<Screen, "width" | "clean">): string[] {
  return proseLines(`  ${step}`, { width: width ?? STEP_WIDTH, clean }, { indent: "    " });
}

/** A fix after `head`: its words, and its command, never broken, on a line below them. */
export function fixLines(
  head: string,
  { text, command }: Fix,
  { width, clean }: Pick<Screen, "width" | "clean">,
): string[] {
  const indent = " ".repeat(head.length);
  if (text === null) return command === null ? [] : [head + clean(command)];
  const words = proseLines(head + text, { width, clean }, { indent });
  return command === null ? words : [...words, indent + clean(command)];
}

/**
 * `head` with `text` beside it; the lines after the first begin below the text.
 *
 * Behaviour: where too little room is left beside `head`, the text stands below it. Without a terminal it is one line.
 */
export function hangingLines(
  head: string,
  text: string,
  { width, clean }: Pick<Screen, "width" | "clean">,
): string[] {
  const beside = displayWidth(head);
  const room = width === null ? null : Math.max(1, width - beside);
  const [first = "", ...more] = proseLines(text, { width: room, clean });
  const fits = room === null || [first, ...more].every((line) => displayWidth(line) <= room);
  if (fits && (more.length === 0 || room === null || room >= NARROWEST_TEXT))
    return [head + first, ...more.map((line) => " ".repeat(beside) + line)];
  const indent = `${/^ */.exec(head)?.[0] ?? ""}  `;
  const below = proseLines(indent + text, { width, clean }, { indent });
  return head.trim() === "" ? below : [head.trimEnd(), ...below];
}

/**
 * Names with their values beside them, aligned; null is shown as a dash.
 *
 * Units: `nameWidth` is the columns of a name and the blanks after it; one more than the longest name by default.
 */
export function fieldLines(
  fields: readonly (readonly [string, string | null])[],
  screen: Screen,
  { indent = "", nameWidth }: { indent?: string; nameWidth?: number } = {},
): string[] {
  const columns = nameWidth ?? 1 + fields.reduce((most, [name]) => Math.max(most, displayWidth(name)), 0);
  return fields.flatMap(([name, value]) => {
    const label = paint("label", name, screen) + padToWidth(name, columns).slice(name.length);
    return hangingLines(indent + label, value ?? "-", screen);
  });
}

/**
 * A cell's text in lines of at most `width` columns, broken between words; a longer word is broken between visible
 * characters.
 */
export function cellLines(text: string, width: number): string[] {
  return displayWidth(text) <= width ? [text] : wrapText(brokenWords(text, width), width, "", displayWidth);
}

/** The text with words of at most `width` columns; the pieces of a longer word are as wide as a line. */
export function brokenWords(text: string, width: number): string {
  const room = Math.max(1, width);
  return text.replace(/[^ ]+/g, (word) =>
    displayWidth(word) <= room ? word : piecesOf(word, room).join(" "),
  );
}
