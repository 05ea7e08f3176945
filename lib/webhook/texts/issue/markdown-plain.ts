import { truncate } from "../../../text/truncate.ts";

/** What a backslash does not escape: HTML. */
const REPLACED: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

/** The mark of a mention, which some readers look for in the finished text; inside an address it stays. */
const MENTION = /(?<![\p{L}\p{N}_])@/gu;

/** Marks anywhere; what makes an address a link; what makes a line an item of a list or a heading. */
const MEANINGFUL = /[\\`*_{}[\]#+|~^$&<>@]|=(?==)|(?<==)=|:(?=\/\/)|(?<=www)\.|^-|(?<=^\d{1,9})[.)]/gi;

/** The most units that one character takes once it is escaped. */
const MOST_UNITS = "&amp;".length;

/**
 * One line of plain text for markdown: it is shown unchanged, and cannot become markup, a link, a table's cell or HTML.
 *
 * Behaviour: at most `maxUnits` long as markdown; shortened with "…" before it is escaped, so that no escape is cut.
 */
export function markdownPlain(line: string, maxUnits: number): string {
  return fitting(line, maxUnits, escapeLine);
}

/** Lines of plain text as a markdown quotation of at most `maxUnits`; every line is visibly part of it. */
export function markdownQuote(lines: readonly string[], maxUnits: number): string {
  // Two lines of a quotation need an empty one between them, or they become one.
  const quoted = (text: string) => `> ${text.split("\n").map(escapeLine).join("\n>\n> ")}`;
  return fitting(lines.join("\n"), maxUnits, quoted);
}

function escapeLine(line: string): string {
  return line.replace(MENTION, "\uFF20").replace(MEANINGFUL, (mark) => REPLACED[mark] ?? `\\${mark}`);
}

function fitting(text: string, maxUnits: number, render: (text: string) => string): string {
  let end = Math.min(text.length, maxUnits);
  let excess = 0;
  do {
    excess = render(text.slice(0, end)).length - maxUnits;
    if (excess > 0) end -= Math.ceil(excess / MOST_UNITS);
  } while (excess > 0);
  return render(truncate(text, end));
}
