import type { Command } from "../framework/command.ts";

/**
 * The words of a command line before the cursor.
 *
 * Shape: `positionals` are the words that are no options, `given` the names of the options, `open` the option whose
 *        value comes next, `isPastOptions` whether `--` stood among them.
 */
export type ReadWords = {
  positionals: readonly string[];
  given: ReadonlySet<string>;
  open: string | null;
  isPastOptions: boolean;
};

/** Reads the words behind a command's name as `parseWords` does, without judging them. */
export function readWords({ args }: Command, words: readonly string[]): ReadWords {
  const positionals: string[] = [];
  const given = new Set<string>();
  let open: string | null = null;
  let isPastOptions = false;
  for (const word of words) {
    if (open !== null) open = null;
    else if (isPastOptions || !word.startsWith("-") || word === "-") positionals.push(word);
    else if (word === "--") isPastOptions = true;
    else {
      const [, name = "", value] = /^--([^=]*)(=.*)?$/s.exec(word) ?? [];
      given.add(name);
      const type = Object.hasOwn(args, name) ? args[name]?.type : undefined;
      if (value === undefined && (type === "string" || type === "enum")) open = name;
    }
  }
  return { positionals, given, open, isPastOptions };
}
