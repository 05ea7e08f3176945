import type { Fix } from "../../platform/errors.ts";
import { breakWords, displayWidth } from "../display-width.ts";
import { wrapText } from "../wrap.ts";
import { paint, type Screen } from "./screen.ts";

/** Below this nearly every word would have a line of its own. */
const NARROWEST_TEXT = 24;
const NO_BREAK = "\u00a0";

type Look = Pick<Screen, "width" | "clean">;

/** `indent`: the beginning of the lines after the first; `breaksWords`: a word longer than a line is broken as well. */
export type ProseOptions = { indent?: string; breaksWords?: boolean };

/** A command in a line for people, which is never broken, so that it can be copied. */
export function unbroken(command: string): string {
  return command.replaceAll(" ", NO_BREAK);
}

/** A line for people as lines of the screen's width, broken between words; without a terminal it is one line. */
export function proseLines(
  line: string,
  { width, clean }: Look,
  { indent = "", breaksWords = false }: ProseOptions = {},
): string[] {
  const text = clean(line);
  const isBroken = breaksWords && width !== null;
  return wrapped(isBroken ? breakWords(text, width - indent.length) : text, width, indent);
}

/** Some lines for people, each wrapped as by `proseLines`, as text. */
export function prose(lines: readonly string[], screen: Screen, options: ProseOptions = {}): string {
  return lines
    .flatMap((line) => proseLines(line, screen, options))
    .map((line) => `${line}\n`)
    .join("");
}

/** A fix after `head`: its words, and its command, never broken, on a line below them. */
export function fixLines(head: string, { text, command }: Fix, screen: Look): string[] {
  const indent = " ".repeat(head.length);
  const words = text === null ? [] : proseLines(head + text, screen, { indent });
  if (command === null) return words;
  return [...words, (text === null ? head : indent) + screen.clean(command)];
}

/**
 * `head` with `text` beside it; the lines after the first begin below the text, or, where too little room is left
 * beside `head`, a little behind its beginning.
 */
export function hangingLines(head: string, text: string, { width, clean }: Look): string[] {
  const beside = displayWidth(head);
  const isBeside = width === null || width - beside >= NARROWEST_TEXT;
  const indent = isBeside ? " ".repeat(beside) : `${/^ */.exec(head)![0]}  `;
  return wrapped(head + clean(text), width, indent);
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
  const columns = nameWidth ?? 1 + fields.reduce((most, [name]) => Math.max(most, name.length), 0);
  return fields.flatMap(([name, value]) => {
    const label = paint("label", name, screen) + " ".repeat(Math.max(0, columns - name.length));
    return hangingLines(indent + label, value ?? "-", screen);
  });
}

function wrapped(text: string, width: number | null, indent: string): string[] {
  const isOne = width === null || displayWidth(text) <= width;
  const lines = isOne ? [text] : wrapText(text, width, indent, displayWidth);
  return lines.map((line) => line.replaceAll(NO_BREAK, " ").trimEnd());
}
