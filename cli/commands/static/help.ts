import { helpOf, helpWidth, usageOf } from "../../args/help.ts";
import { argument } from "../../args/options.ts";
import { defineStaticCommand, type Found, findEntry } from "../../framework/command.ts";

/** `opsctl help`: the help of a command, as its `--help`. */
export const help = defineStaticCommand({
  isVariadic: true,
  args: { command: argument("The words of the command", { required: false, values: "commands" }) },
  example: "opsctl help reports list",

  async answer(words, program) {
    const found = findEntry(program, words);
    if (found.rest.length > 0) throw await wordTooMany(found);
    return { fields: {}, text: await helpOf(program, words) };
  },
});

async function wordTooMany({ path, entry, rest }: Found): Promise<Error> {
  const { unknownCommand, usageError } = await import("../../args/parse.ts");
  if (!("load" in entry)) return unknownCommand(rest[0] as string, entry, path);
  const usage = usageOf(path, await entry.load(), await helpWidth("stderr"));
  return usageError("unexpected argument", path, usage);
}
