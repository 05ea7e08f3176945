import { displayWidth } from "../display-width.ts";
import { wrapText } from "../wrap.ts";
import { cellLines } from "./cell-lines.ts";
import { paint, type Screen, type Tone } from "./screen.ts";

/** A value of a row with its name; `wraps` when its words may be broken too. */
export type NamedValue = { name: string; value: string; wraps: boolean; tone: Tone | null };

const GAP = "  ";
const INDENT = "    ";

/**
 * A row as `name: value` on as many lines as it needs, all but the first indented; as many on a line as fit.
 *
 * Behaviour: only what does not fit into a line of its own is broken between words. An id is never broken; where the
 *            indentation makes it too long, it has less.
 */
export function rowBlock(values: readonly NamedValue[], screen: Screen & { width: number }): string[] {
  const lines: string[] = [];
  let room = 0;
  for (const each of values) {
    const { name, value, tone } = each;
    const size = displayWidth(`${name}: ${value}`);
    const shown = `${paint("label", `${name}:`, screen)} ${paint(tone, value, screen)}`;
    const indent = lines.length === 0 ? "" : INDENT;
    if (size + GAP.length <= room) {
      lines[lines.length - 1] += GAP + shown;
      room -= size + GAP.length;
    } else if (indent.length + size <= screen.width) {
      lines.push(indent + shown);
      room = screen.width - indent.length - size;
    } else {
      lines.push(...brokenLines(each, indent, screen.width));
      room = 0;
    }
  }
  return lines;
}

function brokenLines({ name, value, wraps }: NamedValue, indent: string, width: number): string[] {
  const text = `${indent}${name}: ${value}`;
  return wraps
    ? cellLines(text, width, indent + INDENT)
    : wrapText(text, width, indent + INDENT, displayWidth);
}
