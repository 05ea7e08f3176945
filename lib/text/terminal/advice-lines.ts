import { proseLines } from "./prose.ts";
import type { Screen } from "./screen.ts";

/** A line of a shell begins with a program's name, and no sentence goes on behind it; a comma in a path ends none. */
const COMMAND = /^[a-z]/;
/** `install … # then fill it in; or …`: another way out. */
const GOES_ON = /; (?:or|mend|in) |, /;

/**
 * What to do, behind `head`, in lines of the screen's width.
 *
 * Behaviour: a command is never broken, whether it is all of the advice or its end, so that it can be copied whole; a
 *            sentence is broken between words, but not before a path: copied with the command before it, that line
 *            would be a program of its own, which another account may have put there.
 */
export function adviceLines(
  head: string,
  advice: string,
  { width, clean }: Pick<Screen, "width" | "clean">,
): string[] {
  const isCommand = COMMAND.test(advice) && !GOES_ON.test(advice);
  if (isCommand) return [head + clean(advice)];
  return proseLines(head + advice, { width, clean }, { indent: " ".repeat(head.length), keepsPaths: true });
}
