import { displayWidth, fitToWidth, padToWidth } from "./display-width.ts";

/** A column; one with `shortest` may be cut down to so many terminal columns, the others are always whole. */
export type Column = { title: string; shortest?: number };

const GAP = "  ";
const INDENT = "    ";

/**
 * Rows for a terminal of `width` columns; null where nothing limits the width.
 *
 * Shape:     a table where it fits, with its shortenable columns cut as far as needed. Otherwise each row as a
 *            paragraph: the first cell, then the others behind their titles, on as many lines as they need.
 * Behaviour: a cell of a column without `shortest`, such as an id, is never cut or broken. Cells have no line breaks.
 */
export function renderFittedTable(
  columns: readonly Column[],
  rows: readonly (readonly (string | null)[])[],
  width: number | null,
): string {
  const natural = columns.map(({ title }, at) =>
    Math.max(displayWidth(title), ...rows.map((row) => displayWidth(row[at] ?? "-"))),
  );
  const widths = width === null ? natural : fittedWidths(columns, natural, width);
  if (widths === null) return rows.map((row) => paragraph(columns, row, width as number)).join("");
  const titles = columns.map(({ title }) => title);
  return [titles, ...rows].map((row) => tableLine(row, widths)).join("");
}

/** The widths of a table that fits, or null when there is none. */
function fittedWidths(columns: readonly Column[], natural: number[], width: number): number[] | null {
  const widths = [...natural];
  let excess = sum(widths) + GAP.length * (columns.length - 1) - width;
  while (excess > 0) {
    // The widest column gives way first, down to the next widest or its shortest.
    const spare = columns.map(({ shortest }, at) => (shortest === undefined ? 0 : widths[at]! - shortest));
    const candidates = widths.map((size, at) => (spare[at]! > 0 ? size : 0));
    const largest = Math.max(...candidates);
    if (largest <= 0) return null;
    const at = candidates.indexOf(largest);
    const second = Math.max(0, ...candidates.filter((_, other) => other !== at));
    const step = Math.min(excess, spare[at]!, Math.max(1, largest - second));
    widths[at]! -= step;
    excess -= step;
  }
  return widths;
}

function tableLine(row: readonly (string | null)[], widths: readonly number[]): string {
  const cells = row.map((cell, at) => padToWidth(fitToWidth(cell ?? "-", widths[at]!), widths[at]!));
  return `${cells.join(GAP).trimEnd()}\n`;
}

/** A row on its own: what does not fit behind the rest of a line begins the next one; empty cells are left out. */
function paragraph(columns: readonly Column[], row: readonly (string | null)[], width: number): string {
  const lines: string[] = [];
  for (const [at, column] of columns.entries()) {
    const cell = row[at] ?? null;
    if (at === 0 || cell === null) continue;
    const words = `${column.title.toLowerCase()} ${fitCell(column, cell, width - INDENT.length - column.title.length - 1)}`;
    const joined = `${lines.at(-1)}${GAP}${words}`;
    if (lines.length > 0 && displayWidth(joined) <= width) lines[lines.length - 1] = joined;
    else lines.push(INDENT + words);
  }
  return [fitCell(columns[0]!, row[0] ?? "-", width), ...lines].map((line) => `${line}\n`).join("");
}

function fitCell({ shortest }: Column, cell: string, width: number): string {
  return shortest === undefined ? cell : fitToWidth(cell, Math.max(shortest, width));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
