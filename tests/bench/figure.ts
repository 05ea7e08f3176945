/** One measured figure beside its baseline, and the table of all of them. */

/**
 * A figure of one run.
 *
 * Shape: `value` and `baseline` as texts with their units; `ratio` is the figure over its baseline, and `goal` what
 *        it should reach; a figure without a goal is there to be read. One with a goal and without a ratio could not
 *        be measured, and its value says why.
 */
export type Figure = {
  measure: string;
  value: string;
  baseline?: string;
  ratio?: number;
  goal?: { atLeast: number } | { atMost: number };
};

/** Rows, with a verdict where there is a goal. */
export function renderFigures(figures: Figure[]): string {
  const rows = [
    ["measure", "measured", "baseline", "ratio", "goal", "verdict"],
    ...figures.map((figure) => [
      figure.measure,
      figure.value,
      figure.baseline ?? "",
      figure.ratio === undefined ? "" : figure.ratio.toFixed(2),
      goalText(figure),
      verdict(figure),
    ]),
  ];
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const line = (row: string[]) =>
    row
      .map((cell, i) => cell.padEnd(widths[i]!))
      .join("  ")
      .trimEnd();
  return `${rows.map(line).join("\n")}\n`;
}

/** The middle of several measurements. */
export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** How many goals were met, missed and not measured, as the last line of a run. */
export function renderTotals(figures: Figure[]): string {
  const count = (wanted: string) => figures.filter((figure) => verdict(figure) === wanted).length;
  return `Goals: ${count("met")} met, ${count("MISSED")} missed, ${count("NOT MEASURED")} not measured`;
}

function goalText({ goal }: Figure): string {
  if (goal === undefined) return "";
  return "atLeast" in goal ? `≥ ${goal.atLeast}` : `≤ ${goal.atMost}`;
}

function verdict({ goal, ratio }: Figure): string {
  if (goal === undefined) return "";
  if (ratio === undefined || !Number.isFinite(ratio)) return "NOT MEASURED";
  const isMet = "atLeast" in goal ? ratio >= goal.atLeast : ratio <= goal.atMost;
  return isMet ? "met" : "MISSED";
}
