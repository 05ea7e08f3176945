import type { ArgDef } from "citty";

/** What is wrong with the value of an option ("expects a UUID"), or undefined when nothing is. */
export type ValueCheck = (value: string) => string | undefined;

/** Values that completion looks up when it is asked. */
type ValueKind = "weeks" | "old-weeks" | "codes" | "commands" | "directories";

/**
 * An option or argument: citty's definition, and what its value may be.
 *
 * Shape: `values` are all the values that are accepted, or their kind; weeks are Mondays. A `check` of its own replaces
 *        the check that `values` imply.
 */
export type Option = ArgDef & { check?: ValueCheck; values?: readonly string[] | ValueKind };

/** The values of an option or argument, or their kind; undefined where that is not known. */
export function listedValues(option: Option): readonly string[] | ValueKind | undefined {
  return option.type === "enum" ? option.options : option.values;
}

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

/** The names of a command's positional arguments, in their order. */
export function positionalNames(args: Options): string[] {
  return Object.keys(args).filter((name) => args[name]!.type === "positional");
}

/** The names of a command's options. */
export function optionNames(args: Options): string[] {
  return Object.keys(args).filter((name) => args[name]!.type !== "positional");
}

/** The name of the positional argument at this place; undefined for one too many. */
export function positionalAt(
  at: number,
  { args, isVariadic }: { args: Options; isVariadic?: boolean },
): string | undefined {
  const names = positionalNames(args);
  return names[at] ?? (isVariadic ? names.at(-1) : undefined);
}
