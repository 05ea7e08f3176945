import { OpsError } from "../../../lib/platform/errors.ts";
import { REDACTED, redact } from "../../../lib/platform/secrets/redact.ts";
import { singleLine } from "../../../lib/text/single-line.ts";
import type { Group } from "../command.ts";
import { exitStatusOf } from "../exit-status.ts";
import { asOpsError } from "../failure.ts";
import { writeErr } from "../streams/output.ts";
import { nearest } from "./nearest.ts";

/**
 * The error for a wrong command line: what is wrong, the usage, and where to read more.
 *
 * Behaviour: `problem` may repeat a word of the command line, which was perhaps pasted: nothing in it moves a terminal's
 *            cursor.
 */
export function misuse(problem: string, path: string, usage: string): OpsError {
  return new OpsError({
    code: "USAGE_INVALID",
    message: `${path}: ${singleLine(problem)}`,
    hint: `Usage: ${usage}\nRun \`${path} --help\` for more`,
  });
}

/** The error for a word that names no command of the group. */
export function unknownWord(word: string, { commands }: Group, path: string): OpsError {
  const isOption = word.startsWith("-");
  // The mask of a secret is near the command of that name, and says nothing about what was typed.
  const isMasked = word.includes(REDACTED);
  const near = isMasked
    ? undefined
    : nearest(word, isOption ? ["--help", "--version"] : Object.keys(commands));
  const what = isOption ? `unknown option ${word.split("=")[0]}` : `unknown command ${JSON.stringify(word)}`;
  const problem = near === undefined ? what : `${what}; did you mean ${near}?`;
  return misuse(problem, path, `${path} <command> [options]`);
}

/** Prints a failure that happened outside a command's run to standard error and returns the exit status. */
export function reportFailure(failure: unknown): number {
  const { code, message, hint } = asOpsError(failure, "run opsctl");
  writeErr(redact(`${message}\n${hint === undefined ? "" : `${hint}\n`}`));
  return exitStatusOf(code);
}
