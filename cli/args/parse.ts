import { nearest } from "../../lib/platform/nearest.ts";
import type { Command } from "../framework/command.ts";
import { checkOf } from "./checks.ts";
import { optionNames, positionalNames } from "./options.ts";

/**
 * The words after a command, checked.
 *
 * Shape: `rawArgs` can be read in one way only: options as `--name=value`, then `--` and the positionals. `options` has
 *        the value of each option by its name, of a flag the empty text.
 */
export type ParsedWords = {
  rawArgs: string[];
  options: ReadonlyMap<string, string>;
  positionals: readonly string[];
};

/**
 * Parses the words after a command.
 *
 * Behaviour: every word is checked here, because citty accepts unknown options, missing values and stray words
 *            silently, and `--dryrun` must never become a real run.
 * Shape:     `problem` is the first thing that is wrong. It never repeats a value, which may be a secret.
 */
export async function parseWords(
  words: readonly string[],
  command: Command,
): Promise<ParsedWords | { problem: string }> {
  const options = new Map<string, string>();
  const positionals: string[] = [];
  for (const token of await tokensOf(words, command)) {
    if (token.kind === "positional") positionals.push(token.value);
    if (token.kind !== "option") continue;
    const { name, rawName, value = "" } = token;
    const problem = optionProblem(token, command);
    if (problem !== undefined) return { problem };
    if ((options.get(name) ?? value) !== value)
      return { problem: `option ${rawName} is given more than once, with different values` };
    options.set(name, value);
  }
  const names = positionalNames(command.args);
  const given = positionals.slice(0, names.length).map((value, at) => [names[at] as string, value] as const);
  const problem =
    missingOption(options, command) ??
    positionalProblem(positionals, command) ??
    command.checkTogether?.(new Map([...options, ...given]));
  if (problem !== undefined) return { problem };
  const rawArgs = [...options].map(([name, value]) => (value === "" ? `--${name}` : `--${name}=${value}`));
  return { rawArgs: [...rawArgs, "--", ...positionals], options, positionals };
}

/** Says that an option is unknown, and which one was probably meant. */
export function unknownOption(rawName: string, names: readonly string[]): string {
  const near = nearest(
    rawName,
    names.filter((name) => name !== rawName),
  );
  return `unknown option${shownName(rawName)}${near === undefined ? "" : `; did you mean ${near}?`}`;
}

/** A word as an error shows it: only one that can be the name of a command or an option, because others may be secrets. */
export function shownName(word: string, quote = ""): string {
  return /^[a-z_-]{1,40}$/i.test(word) ? ` ${quote}${word}${quote}` : "";
}

type OptionToken = {
  kind: "option";
  name: string;
  rawName: string;
  value?: string | undefined;
  inlineValue?: boolean | undefined;
};
type Token = OptionToken | { kind: "positional"; value: string } | { kind: "option-terminator" };

/**
 * The words as `node:util` reads them.
 *
 * Behaviour: not with `strict`, whose errors repeat values. Loading `node:util` takes a third of the start of a short
 *            command, so that words without an option do without.
 */
async function tokensOf(words: readonly string[], { args }: Command): Promise<readonly Token[]> {
  if (!words.some((word) => word.startsWith("-")))
    return words.map((value) => ({ kind: "positional", value }));
  const { parseArgs } = await import("node:util");
  const options = Object.entries(args).map(
    ([name, { type }]) => [name, { type: type === "boolean" ? "boolean" : "string" }] as const,
  );
  const config = { strict: false, tokens: true, allowPositionals: true } as const;
  return parseArgs({ ...config, args: [...words], options: Object.fromEntries(options) }).tokens;
}

function optionProblem(
  { name, rawName, value, inlineValue }: OptionToken,
  { args }: Command,
): string | undefined {
  const arg = Object.hasOwn(args, name) && rawName.startsWith("--") ? args[name] : undefined;
  if (arg === undefined || arg.type === "positional")
    return unknownOption(rawName, [...optionNames(args).map((known) => `--${known}`), "--help"]);
  if (arg.type === "boolean") return value === undefined ? undefined : `option ${rawName} takes no value`;
  // A value that looks like an option is taken for the next option; --name=-value is the way to write it. No option
  // begins with a digit.
  const isMissing = value === undefined || (inlineValue !== true && /^-(?!\d)/.test(value));
  const fault = isMissing || value.trim() === "" ? "needs a value" : checkOf(arg)?.(value);
  return fault && `option ${rawName} ${fault}`;
}

function missingOption(given: ReadonlyMap<string, string>, { args }: Command): string | undefined {
  const missing = optionNames(args).find((name) => args[name]?.required && !given.has(name));
  return missing && `option --${missing} is required`;
}

function positionalProblem(words: readonly string[], command: Command): string | undefined {
  const { args, isVariadic, unexpected } = command;
  const names = positionalNames(command.args);
  if (words.length > names.length && !isVariadic)
    return `unexpected argument${unexpected === undefined ? "" : `: ${unexpected}`}`;
  for (let at = 0; at < Math.max(words.length, names.length); at += 1) {
    const name = names[Math.min(at, names.length - 1)] as string;
    const arg = args[name] as Command["args"][string];
    const word = words[at];
    if (word === undefined && arg.required === false) continue;
    const fault = word === undefined || word.trim() === "" ? "is missing" : checkOf(arg)?.(word);
    if (fault !== undefined) return `argument <${name}> ${fault}`;
  }
  return undefined;
}
