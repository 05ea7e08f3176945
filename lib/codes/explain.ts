import { wrapText } from "../text/wrap.ts";

/** What one row says about a code: its section, the codes of the row, and the meaning, in plain text. */
export type Explanation = { section: string; codes: readonly string[]; meaning: string };

/** What may stand for a part of a code that varies, by the mark in the document. */
const VARYING: Readonly<Record<string, string>> = { "<status>": "[1-5][0-9]{2}", "<nn>": "[0-9]{2}" };
const ANY_PART = "[A-Za-z0-9_]+";
const MARK = /(<\w+>|…)/;

/**
 * Reads the tables of docs/codes.md.
 *
 * Shape:     in a code, `<status>` is an HTTP status, `<nn>` two digits, `…` anything.
 * Behaviour: a row with the code itself wins over rows that have a form of it (`gateway_…`). A call reads only the rows
 *            that may have the code.
 */
export function codeBook(markdown: string) {
  return {
    /** What they say about a code. */
    explain(code: string) {
      const rows = rowsOf(markdown, (line) => line.includes(code));
      const exact = rows.filter(({ codes }) => codes.includes(code));
      if (exact.length > 0) return exact;
      const forms = rowsOf(markdown, (line) => MARK.test(line));
      return forms.filter(({ codes }) => codes.some((form) => MARK.test(form) && patternOf(form).test(code)));
    },
    /** Every code without a part that varies, in their order. */
    codes() {
      const sections = new Map<string, string>();
      for (const { codes, section } of rowsOf(markdown, () => true))
        for (const code of codes) if (/^\w+$/.test(code) && !sections.has(code)) sections.set(code, section);
      return [...sections].map(([code, section]) => ({ code, section }));
    },
  };
}

/** The rows of tables whose first column has codes, of the lines that may have what is wanted. */
function rowsOf(markdown: string, mayHave: (line: string) => boolean): Explanation[] {
  const rows: Explanation[] = [];
  let section = "";
  let titles: readonly string[] = [];
  let isHead = true;
  for (const line of markdown.split("\n")) {
    if (line.startsWith("## ")) section = line.slice(3).replaceAll("`", "");
    if (!line.startsWith("|")) isHead = true;
    else if (isHead) {
      titles = cellsOf(line);
      isHead = false;
    } else if (/^(code|`cause`)$/.test(titles[0] ?? "") && !line.startsWith("|-") && mayHave(line))
      rows.push({ section, ...rowOf(titles, cellsOf(line)) });
  }
  return rows;
}

function cellsOf(line: string): string[] {
  const cells = line.slice(1, line.lastIndexOf("|")).split("|");
  return cells.map((cell) => cell.trim());
}

function rowOf(titles: readonly string[], [codes = "", ...rest]: readonly string[]) {
  const words = [...codes.matchAll(/`([^`]+)`/g)].map(([, word]) => word!);
  // Between the code and its meaning a table may have another column, such as the result.
  const more = rest.slice(0, -1).map((cell, at) => `${titles[at + 1]} ${cell}: `);
  const meaning = plainText(`${more.join("")}${rest.at(-1) ?? ""}`);
  return { codes: words.length > 0 ? words : [codes], meaning };
}

function patternOf(form: string): RegExp {
  const parts = form.split(MARK).map((part) => (MARK.test(part) ? (VARYING[part] ?? ANY_PART) : part));
  return new RegExp(`^${parts.join("")}$`);
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

/** What the tables say about a code, for people: a part for each row, in lines of at most `width` characters. */
export function renderExplanations(
  code: string,
  explanations: readonly Explanation[],
  width: number,
): string {
  const parts = explanations.map(({ section, codes, meaning }) => {
    const others = codes.filter((other) => other !== code).join(", ");
    const text = `${meaning.charAt(0).toUpperCase()}${meaning.slice(1)}${/[.!?)]$/.test(meaning) ? "" : "."}`;
    const paragraphs = [
      `${code}: ${section}`,
      `  ${text}`,
      ...(others === "" ? [] : [`  The same: ${others}`]),
    ];
    return paragraphs.flatMap((paragraph) => wrapText(paragraph, width, "  ")).join("\n");
  });
  return `${parts.join("\n\n")}\n`;
}
