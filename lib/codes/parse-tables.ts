/**
 * A row of the tables of docs/codes.md.
 *
 * Shape: `words` are its codes, some of them with parts that vary (`APP_HTTP_<status>`, `gateway_…`); `ranges` are
 *        pairs of codes that mean all numbers between them; `meaning` is Markdown, with the cells before it in front.
 */
export type CodeRow = {
  section: string;
  words: readonly string[];
  ranges: readonly (readonly [string, string])[];
  meaning: string;
};

/**
 * The rows of every table whose first column has codes, in the order of the document.
 *
 * Behaviour: takes apart only the lines that are wanted: the whole document takes as long as the start of the program.
 */
export function parseTables(markdown: string, isWanted: (line: string) => boolean = () => true): CodeRow[] {
  const rows: CodeRow[] = [];
  let section = "";
  let columns: readonly string[] | null = null;
  for (const line of markdown.split("\n")) {
    if (line.startsWith("## ")) section = line.slice(3).replaceAll("`", "");
    if (!line.startsWith("|")) columns = null;
    else if (columns === null) columns = cellsOf(line);
    else if (isOfCodes(columns) && !line.startsWith("|-") && isWanted(line))
      rows.push(rowOf(section, columns, cellsOf(line)));
  }
  return rows;
}

function cellsOf(line: string): string[] {
  const cells = line.slice(1, line.lastIndexOf("|")).split("|");
  return cells.map((cell) => cell.trim());
}

function isOfCodes([first]: readonly string[]): boolean {
  return first === "code" || first === "`cause`";
}

function rowOf(section: string, columns: readonly string[], cells: readonly string[]): CodeRow {
  const [codes = "", ...rest] = cells;
  const words = codes.includes("`") ? [...codes.matchAll(/`([^`]+)`/g)].map(([, word]) => word!) : [codes];
  const ranges = [...codes.matchAll(/`([^`]+)` to `([^`]+)`/g)].map(([, from, to]) => [from!, to!] as const);
  // Between the code and its meaning a table may have a column more, such as the result.
  const more = rest.slice(0, -1).map((cell, at) => `${columns[at + 1]} ${cell}: `);
  return { section, words, ranges, meaning: `${more.join("")}${rest.at(-1) ?? ""}` };
}
