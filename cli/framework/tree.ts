import type { Group, LazyCommand } from "./command.ts";

/** Declares a group of commands. */
export function group(description: string, commands: Group["commands"]): Group {
  return { description, commands };
}

/** Declares a command. */
export function command(description: string, load: LazyCommand["load"]): LazyCommand {
  return { description, load };
}

/** A command or group, the words that name it, and the words after them. */
export type Found = { path: string; entry: Group | LazyCommand; rest: readonly string[] };

/** Follows the words down the tree, as far as they name groups and a command. */
export function findEntry(program: Group, words: readonly string[]): Found {
  let entry: Group | LazyCommand = program;
  let at = 0;
  while (!("load" in entry) && at < words.length && Object.hasOwn(entry.commands, words[at] as string)) {
    entry = entry.commands[words[at] as string] as Group | LazyCommand;
    at += 1;
  }
  return { path: ["opsctl", ...words.slice(0, at)].join(" "), entry, rest: words.slice(at) };
}
