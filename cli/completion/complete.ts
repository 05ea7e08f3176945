import type { ArgDef } from "citty";
import type { Command, Group } from "../framework/command.ts";
import type { Offers } from "./offer.ts";
import { commandsBelow, offeredValues } from "./offered-values.ts";
import { type ReadWords, readWords } from "./read-words.ts";

/**
 * What can stand at the cursor of a command line of opsctl.
 *
 * Shape:     `words` are those behind the program's name up to the cursor, the last one as far as it is typed.
 * Behaviour: an option that was given is not offered again, and options where a word is expected only once it begins
 *            with `-`. Behind what opsctl would not take, nothing is offered.
 */
export async function complete(words: readonly string[], program: Group, now: Date): Promise<Offers> {
  const typed = words.at(-1) ?? "";
  const before = words.slice(0, -1);
  let group = program;
  for (const [at, word] of before.entries()) {
    const entry = Object.hasOwn(group.commands, word) ? group.commands[word] : undefined;
    if (entry === undefined) return [];
    if ("load" in entry) {
      const command = await entry.load();
      return beginningWith(
        typed,
        await inCommand(command, readWords(command, before.slice(at + 1)), { typed, program, now }),
      );
    }
    group = entry;
  }
  return beginningWith(
    typed,
    typed.startsWith("-") ? groupOptions(group === program) : commandsBelow(group, []),
  );
}

type Place = { typed: string; program: Group; now: Date };

async function inCommand(command: Command, read: ReadWords, { typed, program, now }: Place): Promise<Offers> {
  const surroundings = { positionals: read.positionals, program, now };
  if (read.open !== null) return await offeredValues(command, read.open, surroundings);
  if (typed.startsWith("-") && !read.isPastOptions) {
    const [, name, beginning] = /^(?:--([^=]+))(=)/.exec(typed) ?? [];
    if (name === undefined || beginning === undefined) return optionOffers(command, read.given);
    const offers = await offeredValues(command, name, surroundings);
    if (offers === "directories") return offers;
    return offers.map(({ value, about }) => ({ value: `--${name}=${value}`, about }));
  }
  const name = expectedWord(command, read.positionals.length);
  const offers = name === undefined ? [] : await offeredValues(command, name, surroundings);
  return offers.length === 0 && typed === "" && !read.isPastOptions
    ? optionOffers(command, read.given)
    : offers;
}

/** The name of the positional that comes next. */
function expectedWord({ args, takesMany }: Command, count: number): string | undefined {
  const names = Object.keys(args).filter((name) => args[name]?.type === "positional");
  return names[count] ?? (takesMany ? names.at(-1) : undefined);
}

function optionOffers({ args }: Command, given: ReadonlySet<string>): Offers {
  const isOpen = ([name, arg]: [string, ArgDef]) => arg.type !== "positional" && !given.has(name);
  const options = Object.entries(args).filter(isOpen);
  return [
    ...options.map(([name, { description = "" }]) => ({ value: `--${name}`, about: description })),
    { value: "--help", about: "Show this help" },
  ];
}

function groupOptions(isRoot: boolean): Offers {
  const help = { value: "--help", about: "Show this help" };
  return isRoot ? [help, { value: "--version", about: "Show version and commit" }] : [help];
}

function beginningWith(typed: string, offers: Offers): Offers {
  return offers === "directories" ? offers : offers.filter(({ value }) => value.startsWith(typed));
}
