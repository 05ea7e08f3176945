import { OpsError } from "../../lib/platform/errors.ts";
import { nearest } from "../../lib/platform/nearest.ts";
import type { Group } from "../framework/command.ts";
import { shownName, unknownOption } from "./parse.ts";

/** The error for a wrong command line: what is wrong, the usage, and where to read more. */
export function usageError(problem: string, path: string, usage: string): OpsError {
  return new OpsError({
    code: "USAGE_INVALID",
    message: `${path}: ${problem}`,
    hint: `Usage: ${usage}\nRun \`${path} --help\` for more`,
  });
}

/** The error for a word that is no command of the group. */
export function unknownCommand(word: string, { commands }: Group, path: string): OpsError {
  const usage = `${path} <command> [options]`;
  const [option = ""] = word.split("=");
  if (word.startsWith("-")) return usageError(unknownOption(option, ["--help", "--version"]), path, usage);
  const near = nearest(word, Object.keys(commands));
  const meant = near === undefined ? "" : `; did you mean ${near}?`;
  return usageError(`unknown command${shownName(word, '"')}${meant}`, path, usage);
}
