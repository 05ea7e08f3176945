import { displayWidth, padToWidth } from "../display-width.ts";
import { wrapText } from "../wrap.ts";
import { paint, type Screen } from "./screen.ts";

/** Below this a value that has to wrap begins on a line of its own, or nearly every word would have one. */
const NARROWEST_VALUE = 24;

/**
 * Names with their values beside them, aligned; a value that is longer than the line goes on below itself.
 *
 * Units:     `nameWidth` is the columns of a name and the blanks behind it; one more than the longest name by default.
 * Behaviour: ids and other words are never broken; one that does not fit beside its name stands below it. Without a
 *            terminal each is one line.
 */
export function fieldLines(
  fields: readonly (readonly [string, string | null])[],
  screen: Screen,
  { indent = "", nameWidth }: { indent?: string; nameWidth?: number } = {},
): string[] {
  const widest = fields.reduce((most, [name]) => Math.max(most, displayWidth(name)), 0);
  const beside = nameWidth ?? widest + 1;
  return fields.flatMap(([name, value]) =>
    oneField(name, screen.clean(value ?? "-"), { screen, indent, beside }),
  );
}

function oneField(
  name: string,
  value: string,
  { screen, indent, beside }: { screen: Screen; indent: string; beside: number },
): string[] {
  const label = indent + paint("label", name, screen);
  const start = label + padToWidth(name, beside).slice(name.length);
  if (screen.width === null) return [start + value];
  const room = Math.max(1, screen.width - indent.length - beside);
  const [first, ...more] = wrapText(value, room, "", displayWidth) as [string, ...string[]];
  const fits = [first, ...more].every((line) => displayWidth(line) <= room);
  if (fits && (more.length === 0 || room >= NARROWEST_VALUE))
    return [start + first, ...more.map((line) => indent + " ".repeat(beside) + line)];
  return [label, ...wrapText(`${indent}  ${value}`, screen.width, `${indent}  `, displayWidth)];
}
