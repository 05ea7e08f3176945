import { breakWords, displayWidth } from "../display-width.ts";
import { singleLine } from "../single-line.ts";
import { wrapText } from "../wrap.ts";
import { proseLines, unbroken } from "./prose.ts";
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

type Row = readonly (string | null)[];
type Styled = readonly [cell: string, style: Parameters<typeof paint>[0]];

const GAP = "  ";
const INDENT = "    ";
const ABSENT = "-";
/** A word up to this is whole in any table, so that an id or a code in a note can be copied; a longer one may break. */
const LONGEST_WHOLE_WORD = 40;
/** A column of words that is narrower would have a word or two a line. */
const NARROWEST_WORDS = 16;

/**
 * Rows under the titles of their columns, for people.
 *
 * Shape:     on a terminal a table where it fits, with cells of columns that wrap on several lines. Where none fits,
 *            each row is a block of `name: value`, without what is absent. In a file or a pipe each row is one
 *            line.
 * Behaviour: no line is wider than the terminal unless a single id is; ids are whole, and every word is there. Line
 *            breaks, control characters and hidden ones in a cell become blanks or go.
 */
export function renderTable(columns: readonly Column[], rows: readonly Row[], screen: Screen): string {
  const cells = rows.map((row) =>
    columns.map((_, at) => (row[at] == null ? null : singleLine(screen.clean(row[at])))),
  );
  const widths = columnWidths(columns, cells, screen.width);
  const titles = columns.map(({ title }): Styled => [title, "title"]);
  const lines =
    widths === null
      ? cells.flatMap((row) => blockLines(columns, row, screen))
      : [titles, ...cells.map((row) => styled(columns, row))].flatMap((row) => rowLines(row, widths, screen));
  return lines.map((line) => `${line}\n`).join("");
}

function styled(columns: readonly Column[], row: Row): Styled[] {
  return columns.map(({ tone }, at) => [row[at] ?? ABSENT, tone?.(row[at] ?? ABSENT) ?? null]);
}

/**
 * The width of each column, so that the table takes at most `width`; null when there is no such table.
 *
 * Behaviour: the widest column gives way first, one whose cells do not wrap down to its longest cell: then its title
 *            wraps.
 */
function columnWidths(
  columns: readonly Column[],
  rows: readonly Row[],
  width: number | null,
): number[] | null {
  const cellsOf = (at: number) => rows.map((row) => row[at] ?? ABSENT);
  const widths = columns.map(({ title }, at) => widest([title, ...cellsOf(at)]));
  if (width === null) return widths;
  const shortest = columns.map((column, at) => Math.min(widths[at]!, shortestOf(column, cellsOf(at))));
  const room = width - GAP.length * (columns.length - 1);
  while (widths.reduce((sum, size) => sum + size, 0) > room) {
    const spare = widths.map((size, at) => (size > shortest[at]! ? size : 0));
    const largest = Math.max(...spare);
    if (largest === 0) return null;
    widths[spare.indexOf(largest)]! -= 1;
  }
  return widths;
}

function shortestOf({ title, wraps }: Column, cells: readonly string[]): number {
  const wordOfTitle = widest(title.split(" "));
  if (!wraps) return Math.max(wordOfTitle, widest(cells));
  const whole = cells.flatMap((text) => text.split(" ")).filter((word) => word.length <= LONGEST_WHOLE_WORD);
  return Math.max(wordOfTitle, NARROWEST_WORDS, widest(whole));
}

function widest(texts: readonly string[]): number {
  return texts.reduce((most, text) => Math.max(most, displayWidth(text)), 0);
}

/** A row on as many lines as its longest cell has; no blanks at a line's end. */
function rowLines(row: readonly Styled[], widths: readonly number[], screen: Screen): string[] {
  const parts = row.map(([cell], at) => linesOf(cell, widths[at]!));
  const height = Math.max(1, ...parts.map(({ length }) => length));
  return Array.from({ length: height }, (_, line) => {
    const shown = parts.map(({ [line]: text = "" }, at) => {
      return paint(row[at]![1], text, screen) + " ".repeat(Math.max(0, widths[at]! - displayWidth(text)));
    });
    return shown.join(GAP).trimEnd();
  });
}

function linesOf(cell: string, width: number): string[] {
  return displayWidth(cell) <= width ? [cell] : wrapText(breakWords(cell, width), width, "", displayWidth);
}

/** A row as `name: value` on as many lines as it needs, all but the first indented. */
function blockLines(columns: readonly Column[], row: Row, screen: Screen): string[] {
  const room = (screen.width ?? 0) - INDENT.length;
  const parts = styled(columns, row).map(([cell, style], at) => {
    const { title, name = title.toLowerCase(), wraps } = columns[at]!;
    const isWhole = displayWidth(`${name}: ${cell}`) <= room;
    const value = paint(style, wraps && !isWhole ? breakWords(cell, room) : cell, screen);
    const part = `${paint("label", `${name}:`, screen)} ${value}`;
    return isWhole ? unbroken(part) : part;
  });
  const block = parts.filter((_, at) => row[at]).join(GAP) || ABSENT;
  return proseLines(block, { ...screen, clean: (text) => text }, { indent: INDENT });
}
