import type { Command, Group } from "../../../cli/framework/command.ts";
import { root } from "../../../cli/root.ts";

/** Every command with its words, loaded. */
export async function eachCommand(
  group: Group = root,
  before: readonly string[] = [],
): Promise<{ words: string[]; command: Command }[]> {
  const below = Object.entries(group.commands).map(async ([name, entry]) => {
    const words = [...before, name];
    return "load" in entry ? [{ words, command: await entry.load() }] : await eachCommand(entry, words);
  });
  return (await Promise.all(below)).flat();
}
