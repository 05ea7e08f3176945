import { truncate } from "../../../text/truncate.ts";

/** What a backslash does not escape: HTML. */
const REPLACED: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

/** The mark of a mention, which some readers look for in the finished text; inside an address it stays. */
const MENTION = /(?<![\p{L}\p{N}_])@/gu;

/** Marks anywhere; what makes an address a link; what makes a line an item of a list or a heading. */
const MEANINGFUL = /[\\`*_{}[\]#+|~^$&<>@]|=(?==)|(?<==)=|:(?=\/\/)|(?<=www)\.|^-|(?<=^\d{1,9})[.)]/gi;

/** The marks of `MEANINGFUL` that depend on what stands around them. */
const SOMETIMES_MEANINGFUL = "@=:.-)";

const LINE_BREAK = "\n";
/** Two lines of a quotation need an empty one between them, or they become one. */
const QUOTED_BREAK = "\n>\n> ";

/**
 * One line of plain text for markdown: it is shown unchanged, and cannot become markup, a link, a table's cell or HTML.
 *
 * Behaviour: at most `maxUnits` long as markdown; shortened with "…" before it is escaped, so that no escape is cut.
 */
export function markdownPlain(line: string, maxUnits: number): string {
  return escapeLine(shortened(line, maxUnits));
}

/** Lines of plain text as a markdown quotation of at most `maxUnits`; every line is visibly part of it. */
export function markdownQuote(lines: readonly string[], maxUnits: number): string {
  const text = shortened(lines.join(LINE_BREAK), maxUnits - "> ".length);
  return `> ${text.split(LINE_BREAK).map(escapeLine).join(QUOTED_BREAK)}`;
}

function escapeLine(line: string): string {
  return line.replace(MENTION, "\uFF20").replace(MEANINGFUL, (mark) => REPLACED[mark] ?? `\\${mark}`);
}

function shortened(text: string, maxUnits: number): string {
  let [units, end] = [0, 0];
  for (; end < text.length; end++) {
    units += escapedUnits(text[end]!);
    if (units > maxUnits) return truncate(text, end);
  }
  return text;
}

function escapedUnits(character: string): number {
  if (character === LINE_BREAK) return QUOTED_BREAK.length;
  return SOMETIMES_MEANINGFUL.includes(character) ? 2 : escapeLine(character).length;
}
