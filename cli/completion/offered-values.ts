import type { Command, Group, ValueKind } from "../framework/command.ts";
import { listedValues } from "../framework/usage/values.ts";
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
  const listed = listedValues(command, name);
  if (listed !== undefined) return plainOffers(listed);
  const kind = command.values?.[name] as ValueKind | undefined;
  return kind === undefined ? [] : await OF_KIND[kind](surroundings);
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

/** The commands of the group that these words lead to. */
export function commandsBelow(group: Group, words: readonly string[]): Offer[] {
  const [word, ...rest] = words;
  if (word === undefined)
    return Object.entries(group.commands).map(([value, { meta }]) => ({ value, about: meta.description }));
  const entry = Object.hasOwn(group.commands, word) ? group.commands[word] : undefined;
  return entry === undefined || "load" in entry ? [] : commandsBelow(entry, rest);
}
