import { OpsError } from "../../../lib/platform/errors.ts";
import type { LogFit } from "../../../lib/platform/log/log.ts";
import { nearest } from "../../../lib/platform/nearest.ts";
import { REDACTED, redact } from "../../../lib/platform/secrets/redact.ts";
import { singleLine } from "../../../lib/text/single-line.ts";
import type { Group } from "../command.ts";
import { exitStatusOf } from "../exit-status.ts";
import { asOpsError } from "../failure.ts";
import { writeErr } from "../streams/output.ts";

/**
 * The error for a wrong command line: what is wrong, the usage, and where to read more.
 *
 * Behaviour: `problem` may repeat a word of the command line, which was perhaps pasted: nothing in it moves a
 *            terminal's cursor.
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

/**
 * Prints a failure that happened outside a command's run to standard error, broken between words on a terminal, and
 * returns the exit status.
 */
export async function reportFailure(failure: unknown): Promise<number> {
  const { code, message, hint } = asOpsError(failure, "run opsctl");
  const fit = await terminalFit();
  const fitted = (text: string) => text.split("\n").flatMap((line) => fit?.words(line, "  ") ?? [line]);
  const advice = redact(hint ?? "");
  // A usage is in lines of the terminal's width already.
  const below = code === "USAGE_INVALID" ? advice.split("\n") : fitted(advice);
  const shown = [...fitted(redact(message)), ...(hint === undefined ? [] : below)];
  writeErr(shown.map((line) => `${line}\n`).join(""));
  return exitStatusOf(code);
}

/** How lines fit the terminal; null where standard error is no terminal. */
async function terminalFit(): Promise<LogFit | null> {
  const [{ standardError }, { logFit }] = await Promise.all([
    import("../streams/standard-error.ts"),
    import("../streams/log-fit.ts"),
  ]);
  const stderr = await standardError();
  return stderr.isTerminal ? logFit(() => stderr.columns) : null;
}
