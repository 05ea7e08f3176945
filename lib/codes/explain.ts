/** What one row says about a code: its section, the codes of the row, and the meaning, in plain text. */
export type Explanation = { section: string; codes: readonly string[]; meaning: string };

/** The tables of docs/codes.md. */
export type CodeBook = {
  /** What the tables say about `code`; empty when they do not have it. */
  explain(code: string): Explanation[];
  /** Every code without a part that varies, in the order of the document, with its first section. */
  codes(): { code: string; section: string }[];
};

/** A row of the tables; `codes` is its first cell, from which `words` are taken; `meaning` is Markdown. */
type Row = { section: string; codes: string; words: readonly string[]; meaning: string };

/** What may stand for a part of a code that varies, by the word between the brackets. */
const PLACEHOLDERS: Readonly<Record<string, string>> = { status: "[1-5][0-9]{2}" };
const ANY_PART = "[A-Za-z0-9_]+";

/**
 * Reads the tables of docs/codes.md.
 *
 * Shape:     in a code, `<status>` is an HTTP status, `…` anything; `a_1` to `a_9` are all numbers between the two.
 * Behaviour: a row with the code itself wins over rows that have a form of it (`gateway_…`).
 */
export function codeBook(markdown: string): CodeBook {
  const rows = rowsOf(markdown);
  return {
    explain(code) {
      const exact = rows.filter(({ words }) => words.includes(code));
      const found = exact.length > 0 ? exact : rows.filter((row) => hasForm(row, code));
      return found.map(({ section, words, meaning }) => ({
        section,
        codes: words,
        meaning: plainText(meaning),
      }));
    },
    codes() {
      const all = rows.flatMap(({ words, section }) => words.map((code) => ({ code, section })));
      const whole = all.filter(({ code }) => isWhole(code));
      return whole.filter(({ code }, at) => whole.findIndex((other) => other.code === code) === at);
    },
  };
}

/** The rows of every table whose first column has codes, in the order of the document. */
function rowsOf(markdown: string): Row[] {
  const rows: Row[] = [];
  let section = "";
  let titles: readonly string[] | null = null;
  for (const line of markdown.split("\n")) {
    if (line.startsWith("## ")) section = line.slice(3).replaceAll("`", "");
    if (!line.startsWith("|")) {
      titles = null;
      continue;
    }
    const cells = line
      .slice(1, line.lastIndexOf("|"))
      .split("|")
      .map((cell) => cell.trim());
    if (titles === null) titles = cells;
    else if (["code", "`cause`"].includes(titles[0] ?? "") && !line.startsWith("|-"))
      rows.push(rowOf(section, titles, cells));
  }
  return rows;
}

function rowOf(section: string, titles: readonly string[], [codes = "", ...rest]: readonly string[]): Row {
  const words = codes.includes("`") ? [...codes.matchAll(/`([^`]+)`/g)].map(([, word]) => word!) : [codes];
  // Between the code and its meaning a table may have another column, such as the result.
  const more = rest.slice(0, -1).map((cell, at) => `${titles[at + 1]} ${cell}: `);
  return { section, codes, words, meaning: `${more.join("")}${rest.at(-1) ?? ""}` };
}

/** Whether a row has a form of the code: a word with parts that vary, or a range of numbers. */
function hasForm({ codes, words }: Row, code: string): boolean {
  const ranges = [...codes.matchAll(/`([^`]+)` to `([^`]+)`/g)];
  if (ranges.some(([, from, to]) => isBetween(code, from!, to!))) return true;
  return words.some((word) => !isWhole(word) && patternOf(word).test(code));
}

function patternOf(word: string): RegExp {
  const parts = word.split(/(<\w+>|…)/).map((part) => {
    const name = /^<(\w+)>$/.exec(part)?.[1];
    if (part === "…") return ANY_PART;
    return name === undefined ? part : (PLACEHOLDERS[name] ?? ANY_PART);
  });
  return new RegExp(`^${parts.join("")}$`);
}

/** Whether a word is a whole code, without a part that varies. */
function isWhole(word: string): boolean {
  return /^\w+$/.test(word);
}

/** Whether all but the number at the end is the same, and the number is between the two. */
function isBetween(code: string, from: string, to: string): boolean {
  const [parts, low, high] = [code, from, to].map((text) => /^(.*?)([0-9]+)$/.exec(text));
  if (!parts || !low || !high || parts[1] !== low[1]) return false;
  return Number(low[2]) <= Number(parts[2]) && Number(parts[2]) <= Number(high[2]);
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
