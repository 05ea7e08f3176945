import { OpsError } from "../../lib/platform/errors.ts";
import { nearest } from "../../lib/platform/nearest.ts";
import type { Command, Found } from "../framework/command.ts";
import { helpWidth, usageOf } from "./help.ts";
import { listedValues, namesOf, type Option, type Options, positionalAt } from "./options.ts";

/**
 * The words after a command, checked.
 *
 * Shape: `rawArgs` are for citty: options as `--name=value`, then `--` and the `positionals`. `given` has the text of each
 *        option and argument by its name, of a flag the empty text, of several positionals the last.
 */
export type ParsedWords = {
  rawArgs: string[];
  given: ReadonlyMap<string, string>;
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
  const { args } = command;
  const rawArgs: string[] = [];
  const given = new Map<string, string>();
  const positionals: string[] = [];
  for (const token of await tokensOf(words, args)) {
    if (token.kind === "option-terminator") continue;
    const { value = "", name = positionalAt(positionals.length, command) } = token;
    const isOption = token.kind === "option";
    const problem = isOption ? optionProblem(token, args) : positionalProblem(name, value, command);
    if (problem !== undefined) return { problem };
    if (isOption && (given.get(name!) ?? value) !== value)
      return { problem: `option --${name} is given more than once, with different values` };
    given.set(name!, value);
    if (!isOption) positionals.push(value);
    else rawArgs.push(value === "" ? `--${name}` : `--${name}=${value}`);
  }
  const problem = missingProblem(given, args) ?? command.checkTogether?.(given);
  if (problem !== undefined) return { problem };
  return { rawArgs: [...rawArgs, "--", ...positionals], given, positionals };
}

/** A word as `node:util` reads it; a positional has no names. */
type Token = {
  kind: string;
  name?: string;
  rawName?: string;
  value?: string | undefined;
  inlineValue?: boolean | undefined;
};

/**
 * The words as `node:util` reads them.
 *
 * Behaviour: not with `strict`, whose errors repeat values. Loading `node:util` takes a third of the start of a short
 *            command, so that words without an option do without.
 */
async function tokensOf(words: readonly string[], args: Options): Promise<readonly Token[]> {
  if (!words.some((word) => word.startsWith("-")))
    return words.map((value) => ({ kind: "positional", value }));
  const { parseArgs } = await import("node:util");
  const options = Object.entries(args).map(
    ([name, { type }]) => [name, { type: type === "boolean" ? "boolean" : "string" }] as const,
  );
  const config = { strict: false, tokens: true, allowPositionals: true } as const;
  return parseArgs({ ...config, args: [...words], options: Object.fromEntries(options) }).tokens;
}

function optionProblem({ name = "", rawName = "", value, inlineValue }: Token, args: Options) {
  const arg = Object.hasOwn(args, name) && rawName.startsWith("--") ? args[name]! : undefined;
  if (arg === undefined || arg.type === "positional")
    return unknownOption(rawName, [...namesOf("option", args), "help"]);
  if (arg.type === "boolean") return value === undefined ? undefined : `option ${rawName} takes no value`;
  // A value that looks like an option is taken for the next option; --name=-value is the way to write it. No option
  // begins with a digit.
  const isMissing = value === undefined || (inlineValue !== true && /^-(?!\d)/.test(value));
  const fault = isMissing || value.trim() === "" ? "needs a value" : faultOf(value, arg);
  return fault && `option ${rawName} ${fault}`;
}

function positionalProblem(name: string | undefined, value: string, { args, unexpected }: Command) {
  if (name === undefined) return `unexpected argument${unexpected === undefined ? "" : `: ${unexpected}`}`;
  const fault = value.trim() === "" ? "is missing" : faultOf(value, args[name]!);
  return fault && `argument <${name}> ${fault}`;
}

function missingProblem(given: ReadonlyMap<string, string>, args: Options): string | undefined {
  for (const [name, { type, required }] of Object.entries(args)) {
    if (given.has(name)) continue;
    if (type === "positional" && required !== false) return `argument <${name}> is missing`;
    if (type !== "positional" && required) return `option --${name} is required`;
  }
  return undefined;
}

/** What is wrong with a value by the check of its option or argument: its own, else the one that its values imply. */
function faultOf(value: string, option: Option): string | undefined {
  const listed = listedValues(option);
  if (option.check !== undefined) return option.check(value);
  if (listed === "weeks" || listed === "old-weeks")
    return isMonday(value) ? undefined : "expects the date of a Monday, YYYY-MM-DD";
  if (listed === undefined || typeof listed === "string" || listed.includes(value)) return undefined;
  return `expects one of ${listed.join(", ")}${didYouMean(value, listed)}`;
}

/** Whether it is the date of a Monday: a week is named after its first day. */
function isMonday(value: string): boolean {
  const time = new Date(`${value}T00:00:00Z`);
  return time.getUTCDay() === 1 && time.toISOString().startsWith(`${value}T`);
}

function didYouMean(word: string, names: readonly string[]): string {
  const others = names.filter((name) => name !== word);
  const near = nearest(word, others);
  return near === undefined ? "" : `; did you mean ${near}?`;
}

/** The error for words that are not taken: a `problem` with those of a command, or a word that is no command. */
export async function usageError(found: Found, problem = "unexpected argument"): Promise<OpsError> {
  const { path, entry, rest } = found;
  const isCommand = "load" in entry;
  const wrong = isCommand ? problem : unknownWord(rest[0] ?? "", Object.keys(entry.commands));
  const usage = isCommand
    ? usageOf(path, await entry.load(), await helpWidth("stderr"))
    : `${path} <command> [options]`;
  const hint = `Usage: ${usage}\nRun \`${path} --help\` for more`;
  return new OpsError({ code: "USAGE_INVALID", message: `${path}: ${wrong}`, hint });
}

function unknownWord(word: string, commands: readonly string[]): string {
  if (word.startsWith("-")) return unknownOption(word.split("=")[0]!, ["help", "version"]);
  return `unknown command${shownName(word, '"')}${didYouMean(word, commands)}`;
}

function unknownOption(rawName: string, names: readonly string[]): string {
  const options = names.map((name) => `--${name}`);
  return `unknown option${shownName(rawName)}${didYouMean(rawName, options)}`;
}

/** The word where it can be the name of a command or an option; any other may be a secret. */
function shownName(word: string, quote = ""): string {
  return /^[a-z_-]{1,40}$/i.test(word) ? ` ${quote}${word}${quote}` : "";
}
