import { displayWidth } from "../display-width.ts";

/** How wide the cells of a column are, and whether they may be broken between words. */
export type ColumnCells = { title: string; cells: readonly string[]; wraps: boolean };

/**
 * A word up to this stays whole in any table, so that an id or a code in a note can be copied; a longer one may break.
 */
const LONGEST_WHOLE_WORD = 40;
/** A column of words that is narrower would have a word or two a line. */
const NARROWEST_WORDS = 16;

/** How wide each column is where nothing limits the table. */
export function naturalWidths(columns: readonly ColumnCells[]): number[] {
  return columns.map(({ title, cells }) => widest([title, ...cells]));
}

/**
 * How wide each column of a table may be, so that all of it, with `gap` between the columns, takes at most `width`;
 * null when there is no such table.
 *
 * Behaviour: the widest column gives way first, one whose cells do not wrap down to its longest cell: then its title
 *            wraps.
 */
export function columnWidths(
  columns: readonly ColumnCells[],
  { width, gap }: { width: number; gap: number },
): number[] | null {
  const widths = naturalWidths(columns);
  let excess = widths.reduce((sum, size) => sum + size, gap * (columns.length - 1)) - width;
  if (excess <= 0) return widths;
  const shortest = columns.map((column, at) => Math.min(widths[at]!, shortestOf(column)));
  while (excess > 0) {
    const spare = widths.map((size, at) => (size > shortest[at]! ? size : 0));
    const largest = Math.max(...spare);
    if (largest === 0) return null;
    const at = spare.indexOf(largest);
    const second = Math.max(...spare.filter((_, other) => other !== at), 0);
    const step = Math.min(excess, largest - shortest[at]!, Math.max(1, largest - second));
    widths[at]! -= step;
    excess -= step;
  }
  return widths;
}

function shortestOf({ title, cells, wraps }: ColumnCells): number {
  const wordOfTitle = widest(title.split(" "));
  if (!wraps) return Math.max(wordOfTitle, widest(cells));
  const words = cells.flatMap((text) => text.split(" "));
  const whole = words.filter((word) => displayWidth(word) <= LONGEST_WHOLE_WORD);
  return Math.max(wordOfTitle, NARROWEST_WORDS, widest(whole));
}

function widest(texts: readonly string[]): number {
  return texts.reduce((most, text) => Math.max(most, displayWidth(text)), 0);
}
