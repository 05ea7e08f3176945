import { displayWidth } from "../display-width.ts";
import { singleLine } from "../single-line.ts";
import { cellLines } from "./cell-lines.ts";
import { type ColumnCells, columnWidths, naturalWidths } from "./column-widths.ts";
import { rowBlock } from "./row-block.ts";
import { paint, type Screen, type Tone } from "./screen.ts";

/**
 * A column; the cells of one that `wraps` may be broken between words, those of the others (ids, codes, instants)
 * never. `tone` is the colour of a cell by its word; `name` stands before a value on a narrow terminal, else the title
 * in small letters.
 */
export type Column = {
  title: string;
  name?: string;
  wraps?: true;
  tone?: (cell: string) => Tone | null;
};

const GAP = "  ";
const ABSENT = "-";
/** Nothing in such a text can break a line or move the cursor. */
const PLAIN = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

/**
 * Rows under the titles of their columns, for people.
 *
 * Shape:     on a terminal a table where it fits, with cells of columns that wrap on several lines. Where none fits,
 *            each row is a block of `name: value`, without what is absent. In a file or a pipe each row is one line.
 * Behaviour: no line is wider than the terminal unless a single id is; ids are whole, and every word is there. Line
 *            breaks, control characters and hidden ones in a cell become blanks or go.
 */
export function renderTable(
  columns: readonly Column[],
  rows: readonly (readonly (string | null)[])[],
  screen: Screen,
): string {
  const cells = rows.map((row) => columns.map((_, at) => cellText(row[at] ?? null, screen)));
  const byColumn = columns.map(
    ({ title, wraps = false }, at): ColumnCells => ({
      title,
      cells: cells.map((row) => row[at] ?? ABSENT),
      wraps,
    }),
  );
  const { width } = screen;
  if (width === null) return tableText(columns, cells, { widths: naturalWidths(byColumn), screen });
  const widths = columnWidths(byColumn, { width, gap: GAP.length });
  return widths === null
    ? blocksText(columns, cells, { ...screen, width })
    : tableText(columns, cells, { widths, screen });
}

type Cells = readonly (readonly (string | null)[])[];

function cellText(cell: string | null, { clean }: Screen): string | null {
  if (cell === null) return null;
  const text = clean(cell);
  return PLAIN.test(text) ? text : singleLine(text);
}

function tableText(
  columns: readonly Column[],
  cells: Cells,
  { widths, screen }: { widths: readonly number[]; screen: Screen },
): string {
  const line = (row: readonly string[], styles: readonly Style[]) =>
    rowLines(row, { widths, styles, screen });
  const title = line(
    columns.map(({ title }) => title),
    columns.map(() => "title"),
  );
  const rows = cells.map((row) =>
    line(
      row.map((cell) => cell ?? ABSENT),
      columns.map(({ tone }, at) => tone?.(row[at] ?? ABSENT) ?? null),
    ),
  );
  return [title, ...rows].join("");
}

type Style = Parameters<typeof paint>[0];

/** A row on as many lines as its longest cell has; no blanks at a line's end. */
function rowLines(
  row: readonly string[],
  { widths, styles, screen }: { widths: readonly number[]; styles: readonly Style[]; screen: Screen },
): string {
  const parts = row.map((cell, at) => cellLines(cell, widths[at]!));
  const height = parts.reduce((most, { length }) => Math.max(most, length), 1);
  return Array.from({ length: height }, (_, line) => {
    let [text, blanks] = ["", 0];
    for (const [at, part] of parts.entries()) {
      const shown = part[line] ?? "";
      if (shown !== "") {
        text += " ".repeat(blanks) + paint(styles[at] ?? null, shown, screen);
        blanks = 0;
      }
      blanks += widths[at]! - displayWidth(shown) + GAP.length;
    }
    return `${text}\n`;
  }).join("");
}

function blocksText(columns: readonly Column[], cells: Cells, screen: Screen & { width: number }): string {
  return cells
    .flatMap((row) => {
      const values = columns.flatMap(({ title, name = title.toLowerCase(), wraps = false, tone }, at) => {
        const value = row[at] ?? "";
        return value === "" ? [] : [{ name, value, wraps, tone: tone?.(value) ?? null }];
      });
      return values.length === 0 ? [ABSENT] : rowBlock(values, screen);
    })
    .map((line) => `${line}\n`)
    .join("");
}
