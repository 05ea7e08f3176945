import { formatCount } from "../../../text/pt-br.ts";
import { singleLine } from "../../../text/single-line.ts";
import { breakLinks } from "../break-links.ts";
import { markdownPlain } from "./markdown-plain.ts";

const MAX_NAME_UNITS = 300;
const MAX_VALUE_UNITS = 1000;

/** Kept free for the line that counts the labels left out. */
const REST_UNITS = 60;

/**
 * An alert's labels as a markdown table, one row for each, sorted by name in code units.
 *
 * Shape: at most `maxUnits` long; rows that do not fit are counted below the table. Null without labels.
 */
export function labelTable(labels: Readonly<Record<string, string>>, maxUnits: number): string | null {
  const entries = Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1));
  if (entries.length === 0) return null;
  const rows = ["| Label | Valor |", "| --- | --- |"];
  let units = rows.join("\n").length + REST_UNITS;
  for (const [name, value] of entries) {
    const row = `| ${cell(name, MAX_NAME_UNITS)} | ${cell(value, MAX_VALUE_UNITS)} |`;
    units += row.length + "\n".length;
    if (units > maxUnits) break;
    rows.push(row);
  }
  const rest = entries.length - (rows.length - 2);
  return rest === 0
    ? rows.join("\n")
    : `${rows.join("\n")}\n\n${formatCount(rest, "label não mostrado", "labels não mostrados")}`;
}

function cell(text: string, maxUnits: number): string {
  return markdownPlain(breakLinks(singleLine(text)), maxUnits);
}
