import { optionNames, positionalNames } from "../args/options.ts";
import type { Command, Group } from "../framework/command.ts";
import { findEntry } from "../framework/tree.ts";
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
  const { entry, rest } = findEntry(program, before);
  if ("load" in entry) {
    const command = await entry.load();
    return beginningWith(typed, await inCommand(command, readWords(command, rest), { typed, program, now }));
  }
  if (rest.length > 0) return [];
  return beginningWith(
    typed,
    typed.startsWith("-") ? groupOptions(entry === program) : commandsBelow(entry, []),
  );
}

const HELP = { value: "--help", about: "Show this help" };
const VERSION = { value: "--version", about: "Show version and commit" };

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
function expectedWord(command: Command, count: number): string | undefined {
  const names = positionalNames(command.args);
  return names[count] ?? (command.isVariadic ? names.at(-1) : undefined);
}

function optionOffers({ args }: Command, given: ReadonlySet<string>): Offers {
  const options = optionNames(args).filter((name) => !given.has(name));
  return [...options.map((name) => ({ value: `--${name}`, about: args[name]?.description ?? "" })), HELP];
}

function groupOptions(isRoot: boolean): Offers {
  return isRoot ? [HELP, VERSION] : [HELP];
}

function beginningWith(typed: string, offers: Offers): Offers {
  return offers === "directories" ? offers : offers.filter(({ value }) => value.startsWith(typed));
}
