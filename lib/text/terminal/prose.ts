import { displayWidth } from "../display-width.ts";
import { wrapText } from "../wrap.ts";
import { cellLines } from "./cell-lines.ts";
import type { Screen } from "./screen.ts";

/** Words that end with a command to type; a note may stand behind it. */
const WITH_COMMAND =
  /^( *)(.*(?:: |, then )|)((?:(?:sudo (?:[A-Z_]+=\S* )*)?opsctl|runuser|chown|chmod|mv -nT|rm(?:dir)?|install -\w) .*)$/;

/**
 * `indent`: what the lines behind the first begin with; `breaksWords`: one that is longer than a line, too;
 * `hasCommand`: false for what is no advice, in which a command at the end gets no line of its own; `keepsPaths`: no
 * line begins with a path.
 */
export type ProseOptions = {
  indent?: string;
  breaksWords?: boolean;
  hasCommand?: boolean;
  keepsPaths?: boolean;
};

/** A blank before a path, and what stands in its place while lines are broken. */
const BEFORE_PATH = / (?=['"(]?\/)/g;
const UNBROKEN = "\u00a0";

/**
 * A line for people as lines of the screen's width, broken between words.
 *
 * Behaviour: an id, an address or any other word is never broken unless it is asked for, and neither is a command at
 *            the end, so that it can be copied whole. Without a terminal it is the one line.
 */
export function proseLines(
  line: string,
  { width, clean }: Pick<Screen, "width" | "clean">,
  { indent = "", breaksWords = false, hasCommand = true, keepsPaths = false }: ProseOptions = {},
): string[] {
  const text = clean(line);
  if (width === null || displayWidth(text) <= width) return [text];
  const [, blanks = "", words, command] = (hasCommand && WITH_COMMAND.exec(text)) || [];
  if (words === "") return [text];
  const under = indent.length > blanks.length ? indent : `${blanks}  `;
  const wrapped = (prose: string) => {
    const lines = wrapText(
      keepsPaths ? prose.replaceAll(BEFORE_PATH, UNBROKEN) : prose,
      width,
      indent,
      displayWidth,
    );
    return keepsPaths ? lines.map((line) => line.replaceAll(UNBROKEN, " ")) : lines;
  };
  if (words !== undefined) return [...wrapped(blanks + words.trim()), under + command];
  return breaksWords ? cellLines(text, width, indent) : wrapped(text);
}

/** Some lines for people, each wrapped as by `proseLines`, as text. */
export function prose(lines: readonly string[], screen: Screen, options: ProseOptions = {}): string {
  return lines
    .flatMap((line) => proseLines(line, screen, options))
    .map((line) => `${line}\n`)
    .join("");
}
