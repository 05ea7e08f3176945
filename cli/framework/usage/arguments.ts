import type { ArgDef, ArgsDef } from "citty";
import { nearest } from "../../../lib/platform/nearest.ts";
import type { Command, ValueCheck } from "../command.ts";
import { splitWords, type Token } from "./split-words.ts";
import { oneOf, valueCheck } from "./values.ts";

/**
 * Arguments that are in order.
 *
 * Shape: `rawArgs` can be read in one way only, options as `--name=value` and words after `--`; `options` are the same
 *        options by their names, a flag with an empty text.
 */
export type CheckedArguments = { rawArgs: string[]; options: ReadonlyMap<string, string> };

/**
 * Checks the arguments of a command.
 *
 * Behaviour: every word is checked here, because citty accepts unknown options, missing values and stray words
 *            silently, and `--dryrun` must never become a real run.
 * Shape:     `problem` is the first thing that is wrong; it repeats no value of an option.
 */
export function strictArguments(
  words: readonly string[],
  command: Command,
): CheckedArguments | { problem: string } {
  const tokens = splitWords(words, (name) => takesValue(command.args, name));
  const given = new Map<string, string>();
  const positionals: string[] = [];
  for (const token of tokens) {
    if (token.kind === "positional") positionals.push(token.value);
    const problem = token.kind === "option" ? addOption(given, token, command) : undefined;
    if (problem !== undefined) return { problem };
  }
  const problem =
    missingOption(given, command) ??
    positionalProblem(positionals, command) ??
    command.checkTogether?.(new Map([...given, ...named(positionals, command)]));
  if (problem !== undefined) return { problem };
  const options = [...given].map(([name, value]) => (value === "" ? `--${name}` : `--${name}=${value}`));
  const rawArgs = positionals.length === 0 ? options : [...options, "--", ...positionals];
  return { rawArgs, options: given };
}

type OptionToken = Extract<Token, { kind: "option" }>;

/** Adds the option to those given, a flag with an empty text; returns what is wrong with it, if anything. */
function addOption(given: Map<string, string>, token: OptionToken, command: Command): string | undefined {
  const { name, rawName } = token;
  const arg = Object.hasOwn(command.args, name) && rawName.startsWith("--") ? command.args[name] : undefined;
  if (arg === undefined || arg.type === "positional") return unknownOption(rawName, command);
  const fault = arg.type === "boolean" ? flagFault(token) : valueFault(token, arg, valueCheck(command, name));
  if (fault !== undefined) return `option ${rawName} ${fault}`;
  const value = token.value ?? "";
  const before = given.get(name);
  if (before !== undefined && before !== value)
    return `option ${rawName} is given more than once, with different values`;
  given.set(name, value);
  return undefined;
}

function flagFault({ value }: OptionToken): string | undefined {
  return value === undefined ? undefined : "takes no value";
}

function valueFault(
  { value, inlineValue }: OptionToken,
  arg: ArgDef,
  check: ValueCheck | undefined,
): string | undefined {
  // A value that looks like an option is taken for the next option; --name=-value is the way to write it. No option
  // begins with a digit.
  const isMissing = value === undefined || (!inlineValue && /^-(?!\d)/.test(value));
  if (isMissing || value.trim() === "") return "needs a value";
  return (arg.type === "enum" ? oneOf(arg.options ?? []) : check)?.(value);
}

function missingOption(given: ReadonlyMap<string, string>, { args }: Command): string | undefined {
  const missing = namedArgs(args).find(([name, arg]) => arg.required && !given.has(name));
  return missing && `option --${missing[0]} is required`;
}

function positionalProblem(words: readonly string[], command: Command): string | undefined {
  const { args, takesMany, unexpected } = command;
  const names = Object.keys(args).filter((name) => args[name]?.type === "positional");
  if (words.length > names.length && !takesMany)
    return `unexpected argument${unexpected === undefined ? ` ${JSON.stringify(words[names.length])}` : `: ${unexpected}`}`;
  for (let index = 0; index < Math.max(words.length, names.length); index += 1) {
    const name = names[Math.min(index, names.length - 1)]!;
    const word = words[index];
    if (word === undefined && args[name]?.required === false) continue;
    if (word === undefined || word.trim() === "") return `argument <${name}> is missing`;
    const fault = valueCheck(command, name)?.(word);
    if (fault !== undefined) return `argument <${name}> ${fault}`;
  }
  return undefined;
}

/** The words that are no options, by the names of the arguments for which they stand. */
function named(words: readonly string[], { args }: Command): [string, string][] {
  const names = Object.keys(args).filter((name) => args[name]?.type === "positional");
  return names.slice(0, words.length).map((name, at) => [name, words[at] as string]);
}

function unknownOption(rawName: string, { args }: Command): string {
  const near = nearest(rawName, [...namedArgs(args).map(([name]) => `--${name}`), "--help"]);
  return `unknown option ${rawName}${near === undefined ? "" : `; did you mean ${near}?`}`;
}

function namedArgs(args: ArgsDef): [string, ArgDef][] {
  return Object.entries(args).filter(([, arg]) => arg.type !== "positional");
}

function takesValue(args: ArgsDef, name: string): boolean {
  const type = Object.hasOwn(args, name) ? args[name]?.type : undefined;
  return type === "string" || type === "enum";
}
