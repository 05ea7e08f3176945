import { nearest } from "../../../lib/platform/nearest.ts";
import type { Command, ValueCheck } from "../command.ts";
import { aMonday } from "./value-checks.ts";

/** The words that an option or argument takes and no others; undefined where it takes more than a list. */
export function listedValues({ args, values }: Command, name: string): readonly string[] | undefined {
  const arg = args[name];
  if (arg?.type === "enum") return arg.options;
  const declared = values?.[name];
  return typeof declared === "string" ? undefined : declared;
}

/** The check of an option or argument: its own, else what its values say; undefined where anything is taken. */
export function valueCheck({ checks, values }: Command, name: string): ValueCheck | undefined {
  const own = checks?.[name];
  const declared = values?.[name];
  if (own !== undefined || declared === undefined) return own;
  if (typeof declared !== "string") return oneOf(declared);
  return declared === "weeks" || declared === "old-weeks" ? aMonday : undefined;
}

/** Accepts one of these words; of another it names the one that was probably meant. */
export function oneOf(words: readonly string[]): ValueCheck {
  return (value) => {
    if (words.includes(value)) return undefined;
    const near = nearest(value, words);
    return `expects one of ${words.join(", ")}${near === undefined ? "" : `; did you mean ${near}?`}`;
  };
}
