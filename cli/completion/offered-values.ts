import { listedValues, type ValueKind } from "../args/options.ts";
import type { Command, Group } from "../framework/command.ts";
import { findEntry } from "../framework/tree.ts";
import { type Offer, type Offers, plainOffers } from "./offer.ts";
import { pastMondays, sundayOf } from "./past-mondays.ts";

const WEEKS = 8;
/** Every week keeps its content for eight weeks after it has closed. */
const KEPT_WEEKS = 7;

/** What the values of a kind depend on: the words before the cursor, all commands, the time. */
export type Surroundings = { positionals: readonly string[]; program: Group; now: Date };

/** What an option or argument of a command may be given; nothing where that is not known. */
export async function offeredValues(
  command: Command,
  name: string,
  surroundings: Surroundings,
): Promise<Offers> {
  const option = Object.hasOwn(command.args, name) ? command.args[name] : undefined;
  const listed = option && listedValues(option);
  if (listed === undefined) return [];
  return typeof listed === "string" ? await OF_KIND[listed](surroundings) : plainOffers(listed);
}

const OF_KIND: Readonly<Record<ValueKind, (surroundings: Surroundings) => Offers | Promise<Offers>>> = {
  weeks: ({ now }) =>
    pastMondays(now, { count: WEEKS, skipped: 0 }).map((value) => ({
      value,
      about: `until ${sundayOf(value)}`,
    })),
  "old-weeks": ({ now }) => plainOffers(pastMondays(now, { count: WEEKS, skipped: KEPT_WEEKS })),
  codes: async () => {
    const { codes } = await import("../wiring/codes.ts");
    return codes.codes().map(({ code, section }) => ({ value: code, about: section }));
  },
  commands: ({ positionals, program }) => commandsBelow(program, positionals),
  directories: () => "directories",
};

/** The commands of the group that these words name. */
export function commandsBelow(program: Group, words: readonly string[]): Offer[] {
  const { entry, rest } = findEntry(program, words);
  if ("load" in entry || rest.length > 0) return [];
  return Object.entries(entry.commands).map(([value, { description }]) => ({ value, about: description }));
}
