import { parseArgs } from "node:util";
import type { ArgDef, ArgsDef } from "citty";
import { OpsError } from "../lib/platform/errors.ts";
import { parseUuid } from "../lib/platform/uuid.ts";
import type { Leaf, ValueCheck } from "./command.ts";
import { nearest } from "./nearest.ts";

/** A misuse of the command line; `main.ts` adds the usage line. */
export function usageError(message: string): OpsError {
  return new OpsError({ code: "USAGE_INVALID", message });
}

/** Whether help is asked for, wherever it stands among the arguments of a command. */
export function asksForHelp(rawArgs: readonly string[]): boolean {
  const end = rawArgs.indexOf("--");
  const options = end === -1 ? rawArgs : rawArgs.slice(0, end);
  return options.includes("--help") || options.includes("-h");
}

/**
 * The arguments of a command in a form that can only be read in one way: `--name=value` and, after `--`, the words.
 *
 * Shape:  Node's parser splits the line, every token is judged here: citty takes unknown options, missing values and
 *         stray words silently, and `--dryrun` must never become a real run.
 * Errors: USAGE_INVALID for the first thing that is wrong; values are not repeated.
 */
export function strictArguments(rawArgs: readonly string[], leaf: Leaf): string[] {
  const { tokens } = parseArgs({
    args: [...rawArgs],
    options: Object.fromEntries(namedArgs(leaf.args).map(([name, arg]) => [name, { type: typeOf(arg) }])),
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  const given = new Map<string, string>();
  const words: string[] = [];
  for (const token of tokens) {
    if (token.kind === "positional") words.push(token.value);
    if (token.kind === "option") addOption(given, token, leaf);
  }
  requireOptions(given, leaf);
  checkWords(words, leaf);
  const options = [...given].map(([name, value]) => (value === "" ? `--${name}` : `--${name}=${value}`));
  return words.length === 0 ? options : [...options, "--", ...words];
}

/** Accepts a UUID. */
export const aUuid: ValueCheck = (value) => (parseUuid(value) === undefined ? "expects a UUID" : undefined);

/** Accepts a whole number from 1, written in digits alone. */
export const aPositiveInteger: ValueCheck = (value) =>
  /^[0-9]{1,9}$/.test(value) && Number(value) > 0 ? undefined : "expects a positive whole number";

/** Accepts the date of a Monday, `YYYY-MM-DD`: a week is named after its first day. */
export const aMonday: ValueCheck = (value) => {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(value) ? new Date(`${value}T00:00:00Z`) : new Date(Number.NaN);
  const isReal = !Number.isNaN(time.getTime()) && time.toISOString().startsWith(value);
  if (!isReal) return "expects a date, YYYY-MM-DD";
  return time.getUTCDay() === 1 ? undefined : "expects a Monday, the first day of the report's week";
};

type OptionToken = {
  name: string;
  rawName: string;
  value?: string | undefined;
  inlineValue?: boolean | undefined;
};

function addOption(given: Map<string, string>, token: OptionToken, leaf: Leaf): void {
  const { name, rawName } = token;
  const arg = Object.hasOwn(leaf.args, name) && rawName.startsWith("--") ? leaf.args[name] : undefined;
  if (arg === undefined || arg.type === "positional") throw unknownOption(rawName, leaf);
  const value = arg.type === "boolean" ? flagValue(token) : optionValue(token, arg);
  const problem = arg.type === "boolean" ? undefined : leaf.checks?.[name]?.(value);
  if (problem !== undefined) throw usageError(`option ${rawName} ${problem}`);
  const before = given.get(name);
  if (before !== undefined && before !== value)
    throw usageError(`option ${rawName} is given more than once, with different values`);
  given.set(name, value);
}

/** A flag that is there; an empty text stands for it. */
function flagValue({ rawName, value }: OptionToken): string {
  if (value !== undefined) throw usageError(`option ${rawName} takes no value`);
  return "";
}

function optionValue({ rawName, value, inlineValue }: OptionToken, arg: ArgDef): string {
  // A value that looks like an option is the next option: whoever means it writes --name=-value.
  const isMissing = value === undefined || (!inlineValue && value.startsWith("-"));
  if (isMissing || value.trim() === "") throw usageError(`option ${rawName} needs a value`);
  if (arg.type === "enum" && !arg.options?.includes(value))
    throw usageError(`option ${rawName} expects one of ${arg.options?.join(", ")}`);
  return value;
}

function requireOptions(given: ReadonlyMap<string, string>, { args }: Leaf): void {
  const missing = namedArgs(args).find(([name, arg]) => arg.required && !given.has(name));
  if (missing) throw usageError(`option --${missing[0]} is required`);
}

function checkWords(words: readonly string[], leaf: Leaf): void {
  const expected = Object.entries(leaf.args).filter(([, arg]) => arg.type === "positional");
  if (words.length > expected.length)
    throw usageError(`unexpected argument ${JSON.stringify(words[expected.length])}`);
  for (const [index, [name]] of expected.entries()) {
    const word = words[index];
    if (word === undefined || word.trim() === "") throw usageError(`argument <${name}> is missing`);
    const problem = leaf.checks?.[name]?.(word);
    if (problem !== undefined) throw usageError(`argument <${name}> ${problem}`);
  }
}

function unknownOption(rawName: string, { args }: Leaf): OpsError {
  const names = [...namedArgs(args).map(([name]) => `--${name}`), "--help"];
  const near = nearest(rawName, names);
  return usageError(`unknown option ${rawName}${near === undefined ? "" : `; did you mean ${near}?`}`);
}

function namedArgs(args: ArgsDef): [string, ArgDef][] {
  return Object.entries(args).filter(([, arg]) => arg.type !== "positional");
}

function typeOf(arg: ArgDef): "boolean" | "string" {
  return arg.type === "boolean" ? "boolean" : "string";
}
