import type { Fix } from "../../platform/errors.ts";
import { proseLines } from "./prose.ts";
import type { Screen } from "./screen.ts";

/**
 * A fix behind `head`, in lines of the screen's width: its words, and its command below them on a line of its own.
 *
 * Behaviour: a command is never broken, so that it can be copied whole. Words are broken, but not before a path: copied
 *            with the word before it, that line would be a program of its own.
 */
export function fixLines(
  head: string,
  { text, command }: Fix,
  { width, clean }: Pick<Screen, "width" | "clean">,
): string[] {
  const indent = " ".repeat(head.length);
  if (text === null) return command === null ? [] : [head + clean(command)];
  const words = proseLines(head + text, { width, clean }, { indent, hasCommand: false, keepsPaths: true });
  return command === null ? words : [...words, indent + clean(command)];
}
