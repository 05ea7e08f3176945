import { isExact, isMeantBy } from "./code-pattern.ts";
import { type CodeRow, parseTables } from "./parse-tables.ts";

/** What one row says about a code: where it stands, the codes of the row, and the words, in plain text. */
export type Explanation = { section: string; codes: readonly string[]; meaning: string };

/** The tables of docs/codes.md, to be asked for a code. */
export type CodeBook = {
  /** What the tables say about `code`; nothing when they do not have it. */
  explain(code: string): Explanation[];
  /** Every code that stands there as a whole, in the order of the document, with its first section. */
  codes(): { code: string; section: string }[];
};

/**
 * Reads the tables of docs/codes.md.
 *
 * Behaviour: a row with the code itself wins over rows that mean it among others (`gateway_…`).
 * Shape:     `variants` has the words that stand for `<name>` in a code, as an alternation of a regular expression.
 */
export function codeBook(markdown: string, variants: Readonly<Record<string, string>>): CodeBook {
  return {
    explain(code) {
      const rows = rowsWith(code, markdown);
      const meant =
        rows.length > 0 ? rows : parseTables(markdown).filter((row) => isAmong(row, code, variants));
      return meant.map(({ section, words, meaning }) => ({
        section,
        codes: words,
        meaning: plainText(meaning),
      }));
    },
    codes: () => wholeCodes(parseTables(markdown)),
  };
}

/** The rows with the code itself; of a code with parts that vary, only those that it is spelled like. */
function rowsWith(code: string, markdown: string): CodeRow[] {
  const rows = parseTables(markdown, (line) => line.includes(code));
  return rows.filter(({ words }) => words.includes(code));
}

function isAmong(
  { words, ranges }: CodeRow,
  code: string,
  variants: Readonly<Record<string, string>>,
): boolean {
  return (
    words.some((word) => isMeantBy(word, code, variants)) ||
    ranges.some(([from, to]) => isBetween(code, from, to))
  );
}

/** Whether all but the number at the end is the same, and the number is between the two. */
function isBetween(code: string, from: string, to: string): boolean {
  const [parts, low, high] = [code, from, to].map((text) => /^(.*?)([0-9]+)$/.exec(text));
  if (!parts || !low || !high || parts[1] !== low[1]) return false;
  return Number(low[2]) <= Number(parts[2]) && Number(parts[2]) <= Number(high[2]);
}

function wholeCodes(rows: readonly CodeRow[]): { code: string; section: string }[] {
  const found = new Map<string, string>();
  for (const { words, section } of rows)
    for (const word of words.filter(isExact)) if (!found.has(word)) found.set(word, section);
  return [...found].map(([code, section]) => ({ code, section }));
}

/** Markdown without its marks: a link keeps its target, as a path from the top of the sources. */
function plainText(markdown: string): string {
  return markdown
    .replace(/\[([^\]]+)\]\(([^)]+)\)/g, (_whole, text: string, target: string) => {
      if (/^https?:/.test(target)) return `${text} (${target})`;
      return `${text} (docs/${target.startsWith("#") ? "codes.md" : ""}${target})`;
    })
    .replace(/(?<![\w`*])\*([^*`]+)\*(?![\w*])/g, "$1");
}
