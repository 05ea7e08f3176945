import type { ArgDef } from "citty";

/** What is wrong with the value of an option ("expects a UUID"), or undefined when nothing is. */
export type ValueCheck = (value: string) => string | undefined;

/** All the values that are accepted, or their kind, which completion looks up. */
type Values = readonly string[] | "weeks" | "old-weeks" | "codes" | "commands" | "directories";

/** An option or argument: citty's definition, and what its value may be; without a `check` of its own `values` decide. */
export type Option = ArgDef & { check?: ValueCheck; values?: Values };

/** Options and arguments by name. */
export type Options = Record<string, Option>;

type More = Pick<Option, "check" | "values"> & { default?: string; required?: boolean };

/** An option without a value. */
export function flag(description: string) {
  return { type: "boolean", description } as const;
}

/** An option with a value; `valueHint` is the name of the value in help. */
export function option<const M extends More>(valueHint: string, description: string, more: M = {} as M) {
  return { type: "string", valueHint, description, ...more } as const;
}

/** A positional argument. */
export function argument<const M extends More>(description: string, more: M) {
  return { type: "positional", description, ...more } as const;
}

/** `--json`, which every command with a result has. */
export const JSON_OPTION = flag("Print the result as one line of JSON");

/** Accepts a UUID. */
export const aUuid: ValueCheck = (value) =>
  /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(value) ? undefined : "expects a UUID";

/** Accepts a whole number within these bounds; `what` names it. */
export function wholeNumber(least: number, most: number, what: string): ValueCheck {
  return (value) => {
    const isOne = /^[0-9]{1,9}$/.test(value) && Number(value) >= least && Number(value) <= most;
    return isOne ? undefined : `expects ${what}`;
  };
}

/** Accepts a whole number from 1. */
export const aPositiveInteger = wholeNumber(1, 999_999_999, "a positive whole number");

/** Accepts an http or https URL. */
export const aWebUrl: ValueCheck = (value) =>
  /^https?:\/\//i.test(value) && URL.canParse(value) ? undefined : "expects an http or https URL";

/** The values of an option or argument, or their kind; undefined where that is not known. */
export function listedValues(option: Option): Values | undefined {
  return option.type === "enum" ? option.options : option.values;
}

/** The names of a command's positional arguments, in their order, or of its options. */
export function namesOf(kind: "positional" | "option", args: Options): string[] {
  return Object.keys(args).filter((name) => (args[name]!.type === "positional") === (kind === "positional"));
}

/** The name of the positional argument at this place; undefined for one too many. */
export function positionalAt(
  at: number,
  { args, isVariadic }: { args: Options; isVariadic?: boolean },
): string | undefined {
  const names = namesOf("positional", args);
  return names[at] ?? (isVariadic ? names.at(-1) : undefined);
}
