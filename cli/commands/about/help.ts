/**
 * `opsctl help [command …]`: the help of a command, as `--help` behind it.
 *
 * Reads:  nothing.
 * Writes: nothing.
 * Calls:  nothing.
 * Env:    none.
 * Exits:  0 done, 2 usage, also for a command that there is not.
 */
import process from "node:process";
import { defineAbout, type Group } from "../../framework/command.ts";
import { renderCommandHelp, renderGroupHelp } from "../../framework/usage/help.ts";

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
  if (word === undefined) return renderGroupHelp(path, group);
  const entry = Object.hasOwn(group.commands, word) ? group.commands[word] : undefined;
  if (entry === undefined) throw await unknown(word, path, group);
  if (!("load" in entry)) return await helpOf(rest, `${path} ${word}`, entry);
  if (rest.length > 0) throw await unknown(rest[0] as string, `${path} ${word}`, { ...group, commands: {} });
  return renderCommandHelp(`${path} ${word}`, await entry.load());
}

async function unknown(word: string, path: string, group: Group): Promise<Error> {
  const [{ unknownWord }, { maskedWords }] = await Promise.all([
    import("../../framework/usage/misuse.ts"),
    import("../../framework/usage/environment-secrets.ts"),
  ]);
  return unknownWord(maskedWords([word], process.env)[0] as string, group, path);
}
