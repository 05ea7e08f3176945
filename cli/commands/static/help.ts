import { helpOf } from "../../args/help.ts";
import { argument } from "../../args/options.ts";
import { usageError } from "../../args/parse.ts";
import { type Command, findEntry } from "../../framework/command.ts";

/** `opsctl help`: the help of a command, as its `--help`. */
export const help: Command = {
  isVariadic: true,
  args: { command: argument("The words of the command", { required: false, values: "commands" }) },
  example: "opsctl help reports list",

  async answer(words, program) {
    const found = findEntry(program, words);
    if (found.rest.length > 0) throw await usageError(found);
    return { fields: {}, text: await helpOf(program, words) };
  },
};
