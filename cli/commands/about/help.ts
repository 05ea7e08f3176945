/**
 * `opsctl help [command …]`: the help of a command, as `--help` behind it.
 *
 * Reads:  nothing.
 * Writes: nothing.
 * Calls:  nothing.
 * Env:    COLUMNS.
 * Exits:  0 done, 2 usage, also for a command that there is not.
 */
import process from "node:process";
import { type Command, defineAbout, type Group } from "../../framework/command.ts";
import { renderCommandHelp, renderGroupHelp, usageOf } from "../../framework/usage/help.ts";
import { helpWidth } from "../../framework/usage/help-width.ts";

/** The command; see the head of this file. */
export const help = defineAbout({
  meta: { name: "help", description: "Show the help of a command, or all commands" },
  takesMany: true,
  args: { command: { type: "positional", required: false, description: "The words of the command" } },
  values: { command: "commands" },
  example: "opsctl help reports list",

  about: async (words, program) => ({ fields: {}, text: await helpOf(words, "opsctl", program) }),
});

async function helpOf([word, ...rest]: readonly string[], path: string, group: Group): Promise<string> {
  if (word === undefined) return renderGroupHelp(path, group, await helpWidth(process.env));
  const entry = Object.hasOwn(group.commands, word) ? group.commands[word] : undefined;
  const way = `${path} ${word}`;
  if (entry === undefined) throw await unknown(word, path, group);
  if (!("load" in entry)) return await helpOf(rest, way, entry);
  const command = await entry.load();
  if (rest[0] !== undefined) throw await unexpected(rest[0], way, command);
  return renderCommandHelp(way, command, await helpWidth(process.env));
}

async function unknown(word: string, path: string, group: Group): Promise<Error> {
  const { unknownWord } = await import("../../framework/usage/misuse.ts");
  return unknownWord(await masked(word), group, path);
}

async function unexpected(word: string, path: string, command: Command): Promise<Error> {
  const { misuse } = await import("../../framework/usage/misuse.ts");
  const usage = usageOf(path, command, await helpWidth(process.env, "stderr"));
  return misuse(`unexpected argument ${JSON.stringify(await masked(word))}`, path, usage);
}

async function masked(word: string): Promise<string> {
  const { maskedWords } = await import("../../framework/usage/masked-words.ts");
  return maskedWords([word], process.env)[0] as string;
}
