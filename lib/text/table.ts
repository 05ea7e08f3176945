/**
 * Rows as aligned columns under their titles, for a terminal; two blanks between columns, none at the line's end.
 *
 * Units: columns are as wide as their longest cell in UTF-16 code units, which suits ids, codes and instants.
 */
export function renderTable(
  titles: readonly string[],
  rows: readonly (readonly (string | null)[])[],
): string {
  const lines = [titles, ...rows].map((row) => row.map((cell) => cell ?? "-"));
  const widths = titles.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines
    .map(
      (line) =>
        `${line
          .map((cell, column) => cell.padEnd(widths[column] ?? 0))
          .join("  ")
          .trimEnd()}\n`,
    )
    .join("");
}
